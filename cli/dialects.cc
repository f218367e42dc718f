// posgauge dialects: how frameworks read the same config, and the error where they differ.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/dialect_error.h"
#include "posgauge/cli/dialect_table.h"
#include "posgauge/cli/layer_ranges.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/schemes/base/json_file.h"

namespace posgauge::cli {

namespace {

using nlohmann::ordered_json;

struct Options {
  SchemeOptions scheme;
  std::vector<std::string> frameworks;
  bool list = false, json = false;
};

// A row that applies, and how far off it is where that can be computed.
struct Difference {
  const Dialect* dialect;
  std::optional<Scheme> reading;
  DialectErrors errors;
};

// Whether it is known, or may be, that something else comes of it.
bool Differs(const Difference& difference) {
  return !difference.reading || !difference.errors.AreNone();
}

// One kind of layers.
struct KindDialects {
  const LayerGroup* group;
  std::vector<Difference> differences;
  std::vector<std::string_view> alike;  // frameworks without a row that applies
  std::vector<const Dialect*> not_applicable;
};

bool IsAsked(const Options& options, std::string_view framework) {
  return options.frameworks.empty() ||
         std::ranges::find(options.frameworks, framework) != options.frameworks.end();
}

void RequireFrameworks(const Options& options) {
  const auto known = DialectFrameworks();
  for (const std::string& framework : options.frameworks) {
    Require(std::ranges::find(known, framework) != known.end(), "--framework must be of {}, got {}",
            fmt::join(known, ", "), Shown(framework));
  }
}

KindDialects DialectsOf(const Options& options, const ModelConfig& model, const LayerGroup& group,
                        const nlohmann::json& config) {
  KindDialects kind{.group = &group, .differences = {}, .alike = {}, .not_applicable = {}};
  const DialectContext context{model, group.scheme, config};
  const std::vector<int64_t> positions =
      TellingPositions(group.scheme, group.positions.value_or(model.Positions()));
  for (const Dialect& dialect : Dialects()) {
    if (dialect.scheme != Name(group.scheme) || !IsAsked(options, dialect.framework)) continue;
    if (!dialect.applies(context)) {
      kind.not_applicable.push_back(&dialect);
    } else if (dialect.read == nullptr) {
      kind.differences.push_back({&dialect, std::nullopt, {}});
    } else if (const Scheme reading = dialect.read(context); reading == group.scheme) {
      kind.not_applicable.push_back(&dialect);
    } else {
      kind.differences.push_back({&dialect, reading, ErrorsOf(group.scheme, reading, positions)});
    }
  }
  // What has an effect comes first, then what cannot be computed.
  std::ranges::stable_sort(kind.differences, {}, [](const Difference& difference) {
    return !difference.reading ? 1 : difference.errors.AreNone() ? 2 : 0;
  });
  for (const std::string_view framework : DialectFrameworks()) {
    const bool differs = std::ranges::any_of(kind.differences, [&](const Difference& difference) {
      return difference.dialect->framework == framework && Differs(difference);
    });
    if (IsAsked(options, framework) && !differs) kind.alike.push_back(framework);
  }
  return kind;
}

ordered_json ToRecord(const Dialect& dialect) {
  return {{"id", dialect.id},
          {"framework", dialect.framework},
          {"version", dialect.version},
          {"scheme", dialect.scheme},
          {"parameter", dialect.parameter},
          {"reads", dialect.reads},
          {"when", dialect.when},
          {"link", dialect.link}};
}

ordered_json ToRecord(const Difference& difference) {
  ordered_json record = ToRecord(*difference.dialect);
  record["computed"] = difference.reading.has_value();
  record["differs"] = Differs(difference);
  if (!difference.reading) return record;
  record["reading"] = ToJson(*difference.reading);
  record["logits"] = difference.errors.logits;
  if (difference.errors.first_other_bucket) {
    record["first_other_bucket"] = *difference.errors.first_other_bucket;
  }
  record["errors"] = ordered_json::array();
  for (const DialectError& error : difference.errors.at) {
    record["errors"].push_back({{"position", error.position},
                                {"angle", error.angle},
                                {"pair", error.pair},
                                {"norm", error.norm}});
  }
  return record;
}

ordered_json ToRecord(const ModelConfig& model, const std::vector<KindDialects>& kinds) {
  ordered_json record{{"version", 1}, {"table_version", kDialectTableVersion}};
  record["config"] = model.source;
  record["groups"] = ordered_json::array();
  for (const KindDialects& kind : kinds) {
    ordered_json group{{"kind", kind.group->kind}, {"layers", kind.group->layers}};
    group["scheme"] = ToJson(kind.group->scheme);
    group["differences"] = ordered_json::array();
    for (const auto& difference : kind.differences) {
      group["differences"].push_back(ToRecord(difference));
    }
    group["alike"] = kind.alike;
    group["not_applicable"] = ordered_json::array();
    for (const Dialect* dialect : kind.not_applicable) {
      group["not_applicable"].push_back(ToRecord(*dialect));
    }
    record["groups"].push_back(std::move(group));
  }
  return record;
}

void Print(const DialectErrors& errors) {
  if (errors.first_other_bucket) {
    fmt::print("    buckets differ from distance {} on\n", *errors.first_other_bucket);
  }
  if (errors.at.empty()) return;
  const DialectError& any = errors.at[0];
  fmt::print("    {:>10}  {:>14}  {:>14}\n", "position", "radians off", "norm off by");
  for (const DialectError& error : errors.at) {
    fmt::print("    {:>10}  {:>14.6g}  {:>14.6g}\n", error.position, error.angle, error.norm);
  }
  if (any.angle != 0) fmt::print("    pair {} is farthest off\n", any.pair);
  if (errors.logits != 1) fmt::print("    logits times {:.6g}\n", errors.logits);
}

void Print(const Difference& difference, bool is_first) {
  const Dialect& dialect = *difference.dialect;
  fmt::print("  {}{}: {} ({}) {}\n", is_first ? "first difference  " : "", dialect.parameter,
             dialect.framework, dialect.version, dialect.reads);
  fmt::print("    {}, {}\n", dialect.id, dialect.link);
  if (!difference.reading) {
    fmt::print("    not computed\n");
  } else if (difference.errors.AreNone()) {
    fmt::print("    comes to the same for this config\n");
  } else {
    Print(difference.errors);
  }
}

void Print(const KindDialects& kind) {
  const LayerGroup& group = *kind.group;
  fmt::print("\n{}{}: {}\n", group.kind,
             group.layers.empty() ? "" : fmt::format(" (layers {})", Ranges(group.layers)),
             Name(group.scheme));
  for (const Difference& difference : kind.differences) {
    Print(difference, &difference == &kind.differences.front() && Differs(difference));
  }
  if (std::ranges::none_of(kind.differences, Differs)) {
    fmt::print("  all read it alike, as far as the table knows\n");
  }
  if (!kind.alike.empty()) {
    fmt::print("  no other reading is recorded of {}\n", fmt::join(kind.alike, ", "));
  }
  for (const Dialect* dialect : kind.not_applicable) {
    fmt::print("  does not apply: {} of {} ({})\n", dialect->id, dialect->framework, dialect->when);
  }
}

void PrintTable(const Options& options) {
  if (options.json) {
    ordered_json record{{"version", 1}, {"table_version", kDialectTableVersion}};
    record["rows"] = ordered_json::array();
    for (const Dialect& dialect : Dialects()) {
      if (!IsAsked(options, dialect.framework)) continue;
      record["rows"].push_back(ToRecord(dialect));
      record["rows"].back()["computed"] = dialect.read != nullptr;
    }
    fmt::print("{}\n", record.dump(2));
    return;
  }
  fmt::print("table of dialects, version {}\n", kDialectTableVersion);
  for (const Dialect& dialect : Dialects()) {
    if (!IsAsked(options, dialect.framework)) continue;
    fmt::print("\n{}  {} ({})  {}: {}\n  {}\n  where {}{}\n  {}\n", dialect.id, dialect.framework,
               dialect.version, dialect.scheme, dialect.parameter, dialect.reads, dialect.when,
               dialect.read == nullptr ? "; not computed" : "", dialect.link);
  }
}

void Run(const Options& options) {
  RequireFrameworks(options);
  if (options.list) return PrintTable(options);
  const ModelConfig model = options.scheme.Resolve();
  const nlohmann::json config =
      options.scheme.config.empty() ? nlohmann::json() : ReadJson(options.scheme.config);
  std::vector<KindDialects> kinds;
  for (const LayerGroup& group : model.groups) {
    kinds.push_back(DialectsOf(options, model, group, config));
  }
  if (options.json) {
    fmt::print("{}\n", ToRecord(model, kinds).dump(2));
    return;
  }
  fmt::print("{}  (table of dialects, version {})\n", model.source, kDialectTableVersion);
  for (const KindDialects& kind : kinds) Print(kind);
}

}  // namespace

void AddDialects(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand(
      "dialects",
      "How frameworks read the same config, and the error by position where they differ");
  auto options = std::make_shared<Options>();
  options->scheme.AddTo(*command);
  command->add_option("--framework", options->frameworks, "only these, with commas between")
      ->delimiter(',');
  command->add_flag("--list", options->list, "print the whole table, without a config");
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] {
    Run(*options);
    exit_code = kHolds;
  });
}

}  // namespace posgauge::cli
