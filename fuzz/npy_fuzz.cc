#include "oracle.h"
#include "posgauge/verify/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  const auto parse = [](std::string_view bytes) { return ParseNpy(bytes, "file"); };
  if (const auto tensor = fuzz::Parsed([&] { return parse(fuzz::Text(data, size)); })) {
    const auto again = fuzz::Again([&] { return parse(SerializeNpy(*tensor)); });
    fuzz::Demand(again == *tensor, "another tensor when written and read again");
  }
  return 0;
}
