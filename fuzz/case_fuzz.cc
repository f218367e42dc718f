// What a kernel is asked, as the tensors of a safetensors file.
#include "oracle.h"
#include "posgauge/verify/case_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  const auto tensors =
      fuzz::Parsed([&] { return ParseSafetensors(fuzz::Text(data, size), "file"); });
  if (!tensors) return 0;
  if (const auto asked = fuzz::Parsed([&] { return CaseFromTensors(*tensors, "file"); })) {
    const auto again = fuzz::Again([&] { return CaseFromTensors(TensorsOfCase(*asked), "file"); });
    fuzz::Demand(again == *asked, "another case when written and read again");
  }
  return 0;
}
