#include "oracle.h"
#include "posgauge/verify/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  const auto parse = [](std::string_view bytes) { return ParseNpz(bytes, "file"); };
  if (const auto tensors = fuzz::Parsed([&] { return parse(fuzz::Text(data, size)); })) {
    const auto again = fuzz::Again([&] { return parse(SerializeNpz(*tensors)); });
    fuzz::Demand(again == *tensors, "other tensors when written and read again");
  }
  return 0;
}
