// A contract as TOML: the line that it means must be one, and its words as TOML mean the same.
#include <sstream>

#include "oracle.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/contract_file.h"

namespace {

using namespace posgauge;

Contract Parse(std::string_view toml) {
  return fuzz::Again(
      [line = ContractLineFromToml(toml, "c.toml")] { return Contract::Parse(line, Dtype::f32); });
}

std::string Toml(const Contract& contract) {
  std::string toml;
  std::istringstream words(contract.Text());
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    toml += fmt::format("{} = \"{}\"\n", word.substr(0, equals), word.substr(equals + 1));
  }
  return toml;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (const auto contract = fuzz::Parsed([&] { return Parse(fuzz::Text(data, size)); })) {
    const std::string toml = Toml(*contract);
    const auto again = fuzz::Again([&] { return Parse(toml); });
    fuzz::Demand(again == *contract, "another contract when read again", toml);
  }
  return 0;
}
