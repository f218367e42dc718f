#include "oracle.h"
#include "posgauge/verify/contract.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  for (Dtype io : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const auto parse = [io](std::string_view line) { return Contract::Parse(line, io); };
    if (const auto contract = fuzz::Parsed([&] { return parse(fuzz::Text(data, size)); })) {
      const auto again = fuzz::Again([&] { return parse(contract->Text()); });
      fuzz::Demand(again == *contract, "another contract when read again", contract->Text());
    }
  }
  return 0;
}
