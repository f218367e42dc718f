// posgauge identify: what a kernel or a dump computes.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "posgauge/cli/command.h"
#include "posgauge/cli/kernel_options.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/verify/identify/identity.h"
#include "posgauge/verify/kernel_call.h"

namespace posgauge::cli {

namespace {

// Schemes printed as text; JSON has all.
constexpr size_t kShown = 12;

struct Options {
  std::vector<std::string> files;
  KernelOptions kernels;
  std::string scheme;
  std::vector<std::string> settings;
  int64_t max_position = 131071;
  bool json = false;
};

// "--scheme rope --set head_dim=64 ...": every field that is not the scheme's default.
std::string Arguments(const Scheme& scheme) {
  const std::string name(Name(scheme));
  std::string text = "--scheme " + name;
  nlohmann::ordered_json defaults;
  for (const SchemeInfo& info : AllSchemes()) {
    if (info.name != name) continue;
    for (const FieldInfo& field : info.fields) defaults[field.name] = field.default_value;
  }
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const auto& [field, value] : fields.items()) {
    if (field == "scheme" || value.is_null()) continue;
    const std::string shown =
        value.is_string() ? value.get_ref<const std::string&>() : value.dump();
    // A default is shown as it is read back; the shape is always said.
    const bool shape = field == "rotary_dim" || field == "head_dim" || field == "base";
    if (!shape && defaults.value(field, "") == shown) continue;
    text += " --set " + ShellWord(field + "=" + shown);
  }
  return text;
}

nlohmann::ordered_json ToRecord(const Identity& identity) {
  nlohmann::ordered_json record{{"source", identity.source}, {"quantity", identity.quantity}};
  record["identified"] = !identity.schemes.empty();
  record["schemes"] = nlohmann::ordered_json::array();
  for (const Scheme& scheme : identity.schemes) {
    record["schemes"].push_back({{"arguments", Arguments(scheme)}, {"parameters", ToJson(scheme)}});
  }
  record["facts"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : identity.facts) record["facts"][name] = value;
  record["contract"] = identity.contract;
  record["undetermined"] = identity.undetermined;
  record["why_not"] = identity.why_not;
  return record;
}

void Print(const Identity& identity) {
  fmt::print("{}  {}\n", identity.source, identity.quantity);
  if (identity.schemes.empty()) {
    fmt::print("  none of the known schemes: {}\n", identity.why_not);
    return;
  }
  fmt::print("  {}\n", Arguments(identity.schemes.front()));
  if (!identity.contract.empty()) fmt::print("  --contract \"{}\"\n", identity.contract);
  for (const auto& [name, value] : identity.facts) fmt::print("    {:<15} {}\n", name, value);
  if (identity.schemes.size() > 1) fmt::print("  no output tells these apart from it:\n");
  for (size_t i = 1; i < std::min(kShown, identity.schemes.size()); ++i) {
    fmt::print("    {}\n", Arguments(identity.schemes[i]));
  }
  if (identity.schemes.size() > kShown) {
    fmt::print("    and {} more (--json)\n", identity.schemes.size() - kShown);
  }
  if (!identity.undetermined.empty()) fmt::print("  not determined:\n");
  for (const std::string& line : identity.undetermined) fmt::print("    {}\n", line);
}

// By which parameters a kernel is called: those given, or the defaults of the first scheme it
// names.
Scheme ToldScheme(const Options& options, const KernelInfo& info) {
  if (!options.scheme.empty()) return ParseScheme(options.scheme, options.settings);
  std::string name = info.schemes.empty() ? "rope" : info.schemes.front();
  if (info.schemes.empty() && info.Adds()) name = "sinusoidal";
  if (info.schemes.empty() && info.IsOfAttention()) name = "alibi";
  return ParseScheme(name, options.settings);
}

int Execute(const Options& options) {
  Require(options.max_position >= 1 && options.max_position <= int64_t{1} << 40,
          "--max-position must be in 1..2^40, got {}", options.max_position);
  Require(!options.files.empty() || !options.kernels.libraries.empty() ||
              !options.kernels.kernels.empty(),
          "say what to identify: a file of tensors, --library or --kernel");
  Require(options.files.empty() ||
              (options.kernels.libraries.empty() && options.kernels.kernels.empty()),
          "identify takes files of tensors or kernels, not both");
  Require(options.files.empty() || options.scheme.empty(),
          "--scheme says how kernels are called: a file of tensors has no use for it");
  std::vector<Identity> identities;
  bool died = false;
  for (const std::string& file : options.files) identities.push_back(Identify(ReadAnswers(file)));
  if (options.files.empty()) {
    for (const KernelInfo& info : options.kernels.Resolve()) {
      Identity none{.source = info.name, .quantity = info.quantity};
      try {
        const Scheme told = ToldScheme(options, info);
        if (const std::string why = info.WhyNot(told); !why.empty()) {
          none.why_not = "not asked: " + why;
        } else {
          identities.push_back(
              Identify(AskKernel(info, told, static_cast<double>(options.max_position))));
          identities.back().facts.emplace_back("called as", Text(told));
          continue;
        }
      } catch (const Unsupported& error) {
        none.why_not = fmt::format("not asked: {}", error.what());
      } catch (const KernelFailure& error) {
        died = died || error.failure() != Failure::answered;
        none.why_not = error.what();
      }
      identities.push_back(none);
    }
  }
  bool all = true;
  nlohmann::ordered_json record{{"version", 1}, {"identities", nlohmann::ordered_json::array()}};
  for (const Identity& identity : identities) {
    all = all && !identity.schemes.empty();
    record["identities"].push_back(ToRecord(identity));
    if (!options.json) Print(identity);
  }
  if (options.json) fmt::print("{}\n", record.dump(2));
  return died ? kKernelDied : all ? kHolds : kViolated;
}

}  // namespace

void AddIdentify(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "identify", "say what a kernel, a table or a dump of tensors computes");
  command.add_option("files", options->files,
                     "tensors as safetensors, npz or npy: x and out, cos and sin, rows, bias, "
                     "buckets, slopes or frequency, with positions where they do not count from 0");
  options->kernels.AddTo(command);
  command.add_option("--scheme", options->scheme,
                     "the scheme by whose parameters kernels are called; the first they name if "
                     "not given");
  command.add_option("--set", options->settings, "field=value of that scheme")
      ->allow_extra_args(false);
  command
      .add_option("--max-position", options->max_position,
                  "largest position that kernels are asked")
      ->capture_default_str();
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
