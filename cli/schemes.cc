// posgauge schemes [NAME]: what the schemes are and what their fields mean.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_folder.h"
#include "posgauge/cli/scheme_table.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge::cli {

namespace {

struct Options {
  std::string name;
  std::string golden = DefaultGoldenFolder();
  bool json = false, markdown = false;
};

nlohmann::ordered_json ToRecord(const SchemeInfo& scheme) {
  nlohmann::ordered_json record{{"name", scheme.name},
                                {"summary", scheme.summary},
                                {"equation", scheme.equation},
                                {"source", scheme.source}};
  record["fields"] = nlohmann::ordered_json::array();
  for (const FieldInfo& field : scheme.fields) {
    nlohmann::ordered_json entry{{"name", field.name},
                                 {"type", field.type},
                                 {"default", nlohmann::ordered_json::parse(field.default_value)},
                                 {"description", field.description}};
    if (!field.choices.empty()) entry["choices"] = field.choices;
    record["fields"].push_back(std::move(entry));
  }
  if (!scheme.weights.empty()) record["weights"] = nlohmann::ordered_json::array();
  for (const Weight& weight : scheme.weights) {
    record["weights"].push_back(
        {{"name", weight.name}, {"shape", weight.shape}, {"description", weight.description}});
  }
  return record;
}

void PrintFields(const SchemeInfo& scheme) {
  fmt::print("{}: {}\n  {}\n  {}\n", scheme.name, scheme.summary, scheme.equation, scheme.source);
  for (const FieldInfo& field : scheme.fields) {
    const std::string type =
        field.choices.empty() ? field.type : fmt::format("{}", fmt::join(field.choices, "|"));
    const std::string if_none = field.default_value == "null" ? "not set" : field.default_value;
    fmt::print("  {}  ({}; default {})\n      {}\n", field.name, type, if_none, field.description);
  }
  if (!scheme.weights.empty()) {
    fmt::print("takes with every call (shapes of the default fields, all switches on)\n");
  }
  for (const Weight& weight : scheme.weights) {
    fmt::print("  {} [{}]  {}\n", weight.name, fmt::join(weight.shape, ", "), weight.description);
  }
}

void Run(const Options& options) {
  if (options.markdown) {
    fmt::print("{}", SchemeTable(options.golden));
    return;
  }
  std::vector<SchemeInfo> schemes = AllSchemes();
  if (!options.name.empty()) {
    const std::string known(Name(ParseScheme(options.name, {})));
    std::erase_if(schemes, [&](const SchemeInfo& scheme) { return scheme.name != known; });
  }
  if (options.json) {
    nlohmann::ordered_json record{{"version", 1}, {"schemes", nlohmann::ordered_json::array()}};
    for (const SchemeInfo& scheme : schemes) record["schemes"].push_back(ToRecord(scheme));
    fmt::print("{}\n", record.dump(2));
  } else if (!options.name.empty()) {
    PrintFields(schemes.front());
  } else {
    size_t width = 0;
    for (const SchemeInfo& scheme : schemes) width = std::max(width, scheme.name.size());
    for (const SchemeInfo& scheme : schemes) {
      fmt::print("{:<{}} {}\n", scheme.name, width, scheme.summary);
    }
  }
}

}  // namespace

void AddSchemes(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand("schemes", "List the schemes, or a scheme's fields");
  auto options = std::make_shared<Options>();
  CLI::Option* name =
      command->add_option("name", options->name, "a scheme's word: show its fields");
  CLI::Option* json = command->add_flag("--json", options->json, "print JSON");
  CLI::Option* markdown =
      command
          ->add_flag("--markdown", options->markdown,
                     "print what stands for every scheme in every room, as docs/schemes.md has it")
          ->excludes(json)
          ->excludes(name);
  command
      ->add_option("--golden", options->golden,
                   "folder of golden vectors that --markdown counts; configs are in models/ beside "
                   "it")
      ->needs(markdown);
  command->callback([options, &exit_code] {
    Run(*options);
    exit_code = kHolds;
  });
}

}  // namespace posgauge::cli
