#include "oracle.h"
#include "posgauge/verify/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  const auto parse = [](std::string_view bytes) { return ParseSafetensors(bytes, "file"); };
  if (const auto content = fuzz::Parsed([&] { return parse(fuzz::Text(data, size)); })) {
    const auto again = fuzz::Again([&] { return parse(SerializeSafetensors(*content)); });
    fuzz::Demand(again == *content, "another content when written and read again");
  }
  return 0;
}
