#include "posgauge/cli/kernel_result.h"

#include <algorithm>

#include <fmt/format.h>

namespace posgauge::cli {

namespace {

std::string Word(const Verdict& verdict) {
  return verdict.outcome == Outcome::pass ? fmt::format("PASS {:.2f}", verdict.use.max())
                                          : std::string(VariantName(verdict.outcome));
}

// Not being adequate is a failure only where --require says so.
std::string AdequateWord(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::pass:
      return fmt::format("yes {:.3g}", verdict.use.max());
    case Outcome::fail:
      // Above that the spacing is of a number near 0, and says nothing.
      return verdict.use.max() > 1e6 ? "no >1e6" : fmt::format("no {:.3g}", verdict.use.max());
    default:
      return std::string(VariantName(verdict.outcome));
  }
}

std::string Share(const std::vector<Verdict>& verdicts) {
  const auto passed = std::ranges::count(verdicts, Outcome::pass, &Verdict::outcome);
  const auto tried = std::ranges::count_if(verdicts, [](const Verdict& verdict) {
    return verdict.outcome == Outcome::pass || verdict.outcome == Outcome::fail;
  });
  if (verdicts.empty()) return "-";
  return fmt::format("{}/{}{}", passed, tried, passed == tried ? "" : " FAIL");
}

std::string Row(std::string_view name, size_t width, std::string_view contract,
                std::string_view adequate, std::string_view horizon, std::string_view laws,
                std::string_view golden) {
  return fmt::format("  {:<{}}  {:>10}  {:>10}  {:>9}  {:>8}  {:>8}", name, width, contract,
                     adequate, horizon, laws, golden);
}

}  // namespace

const Verdict* KernelResult::Shortfall(bool adequate_is_required) const {
  if (check.keeps_contract.outcome != Outcome::pass) return &check.keeps_contract;
  const bool short_of =
      adequate_is_required && check.adequate && check.adequate->outcome != Outcome::pass;
  return short_of ? &*check.adequate : nullptr;
}

std::string SummaryHead(std::string_view title, size_t width) {
  return Row(title, width, "contract", "adequate", "up to", "laws", "golden");
}

std::string Summary(const KernelResult& result, size_t width) {
  const KernelCheck& check = result.check;
  const bool measured = check.adequate && check.adequate->use.count() > 0;
  return Row(result.info->name, width, Word(check.keeps_contract),
             check.adequate ? AdequateWord(*check.adequate) : "-",
             !measured                    ? "-"
             : check.adequate_horizon < 0 ? "none"
                                          : fmt::format("{}", check.adequate_horizon),
             Share(result.laws), Share(result.golden));
}

std::string BlindShare(const KernelCheck& check) {
  return fmt::format("{:.3g} %", 100.0 * static_cast<double>(check.blind) /
                                     static_cast<double>(std::max<uint64_t>(check.telling, 1)));
}

std::string ContractLine(const KernelResult& result) {
  const KernelCheck& check = result.check;
  const bool short_of = check.adequate && check.adequate->outcome == Outcome::fail;
  if (!short_of && check.blind == 0) return "";
  const KernelInfo& info = *result.info;
  const char* own = info.kernel->contract == nullptr ? "" : info.kernel->contract;
  const bool declared = Contract::Parse(own, info.io()) == info.contract;
  return fmt::format("    {} {}; {} blind", declared ? "declares" : "held to", info.ContractText(),
                     BlindShare(check));
}

nlohmann::ordered_json KernelJson(const KernelResult& result, const LayerGroup& group) {
  const KernelCheck& check = result.check;
  nlohmann::ordered_json json = {
      {"name", result.info->name},
      {"layers", group.kind},
      {"scheme", ToJson(group.scheme)},
      {"quantity", result.info->quantity},
      {"contract", result.info->ContractText()},
      {"keeps_contract", std::string(VariantName(check.keeps_contract.outcome))},
      {"contract_horizon", check.contract_horizon},
      {"blind_values", check.blind},
      {"telling_values", check.telling},
      {"adequate", nullptr},
      {"adequate_horizon", nullptr},
      {"positions_planned", check.planned},
      {"positions_served", check.served},
      {"not_covered", result.not_covered}};
  if (check.adequate) {
    json["adequate"] = std::string(VariantName(check.adequate->outcome));
    json["adequate_horizon"] = check.adequate_horizon;
  }
  return json;
}

}  // namespace posgauge::cli
