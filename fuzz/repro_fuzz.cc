#include "oracle.h"
#include "posgauge/verify/repro.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  if (const auto id = fuzz::Parsed([&] { return ReproId::Parse(fuzz::Text(data, size)); })) {
    const std::string text = id->Text();
    const auto again = fuzz::Again([&] { return ReproId::Parse(text); });
    fuzz::Demand(again == *id, "another id when read again", text);
  }
  return 0;
}
