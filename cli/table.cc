// posgauge table: proven cos/sin tables of any length, written, summed up, computed a second way.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/golden/sha256.h"
#include "posgauge/reference/table_stream.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge::cli {

namespace {

struct Options {
  SchemeOptions scheme;
  std::optional<std::string> positions, out;
  std::vector<std::string> dtypes = {"f32"};
  int threads = 0;
  bool second_path = false, as_json = false;
};

struct Range {
  int64_t first, end;
};

// "0:131072", the end not included.
Range ParseRange(const std::string& text) {
  const auto refuse = [&] {
    return ParameterError(fmt::format(
        "--positions must be FIRST:END with 0 <= FIRST < END <= 2^31, got {}", Shown(text)));
  };
  const size_t colon = text.find(':');
  if (colon == std::string::npos) throw refuse();
  Range range = {};
  const auto parse = [&](std::string_view part, int64_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) throw refuse();
  };
  parse(std::string_view(text).substr(0, colon), range.first);
  parse(std::string_view(text).substr(colon + 1), range.end);
  if (range.first < 0 || range.first >= range.end || range.end > int64_t{1} << 31) throw refuse();
  return range;
}

std::string_view Characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What one group's tables came to.
struct Tables {
  std::vector<StreamCounts> counts;
  std::vector<std::array<std::string, 2>> sums;  // SHA-256 of cos and sin, one a dtype
  double seconds = 0;
};

using Write = std::function<void(size_t dtype, size_t part, std::string_view bytes)>;

Tables Compute(const ExactRotation& rotation, const Range& range, const std::vector<Dtype>& dtypes,
               StreamPath path, int threads, const Write& write) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::array<golden::Sha256Stream, 2>> sums(dtypes.size());
  Tables tables;
  tables.counts = StreamTable(rotation, range.first, range.end, dtypes, path, threads,
                              [&](const TableBlock& block) {
                                for (size_t i = 0; i < dtypes.size(); ++i) {
                                  const auto parts = {block.values[i].cos, block.values[i].sin};
                                  for (size_t part = 0; const auto& bytes : parts) {
                                    sums[i][part].Add(Characters(bytes));
                                    write(i, part++, Characters(bytes));
                                  }
                                }
                              });
  for (auto& [cos, sin] : sums) tables.sums.push_back({cos.Finish(), sin.Finish()});
  tables.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return tables;
}

// The output file: one pair of tensors a group and dtype, written as the rows come.
class TableFile {
 public:
  TableFile(const std::string& path, const ModelConfig& model, const Range& range,
            const std::vector<Dtype>& dtypes)
      : file_(path) {
    for (const LayerGroup& group : model.groups) {
      for (Dtype dtype : dtypes) {
        for (const char* part : kParts) {
          places_.push_back({NameOf(group.kind, dtype, part),
                             dtype,
                             {range.end - range.first, RotaryOf(group.scheme).Pairs()}});
        }
      }
    }
    std::map<std::string, std::string> metadata = {
        {"first_position", fmt::format("{}", range.first)}, {"generator", "posgauge table"}};
    for (const LayerGroup& group : model.groups) metadata[group.kind] = ToJson(group.scheme).dump();
    const std::string header = SafetensorsHeader(places_, metadata);
    const TensorPlace& last = places_.back();
    file_.Reserve(last.offset +
                  static_cast<uint64_t>(last.shape[0] * last.shape[1]) * SizeOf(last.dtype));
    file_.WriteAt(0, header);
  }

  void Append(const std::string& kind, Dtype dtype, size_t part, std::string_view bytes) {
    const std::string name = NameOf(kind, dtype, kParts[part]);
    TensorPlace& place = *std::ranges::find(places_, name, &TensorPlace::name);
    file_.WriteAt(place.offset, bytes);
    place.offset += bytes.size();
  }

  void Commit() { file_.Commit(); }

 private:
  static constexpr const char* kParts[] = {"cos", "sin"};
  static std::string NameOf(const std::string& kind, Dtype dtype, const char* part) {
    return fmt::format("{}.{}.{}", kind, Name(dtype), part);
  }

  AtomicFile file_;
  std::vector<TensorPlace> places_;
};

nlohmann::ordered_json ToRecord(const LayerGroup& group, const Tables& tables,
                                const std::optional<Tables>& second) {
  nlohmann::ordered_json record = {{"layers", group.kind}, {"scheme", ToJson(group.scheme)}};
  for (size_t i = 0; i < tables.counts.size(); ++i) {
    const StreamCounts& counts = tables.counts[i];
    nlohmann::ordered_json one = {
        {"dtype", Name(counts.dtype)},     {"values", counts.values},
        {"by_mpfr", counts.by_mpfr},       {"undecided", counts.undecided},
        {"max_bits", counts.max_bits},     {"sha256_cos", tables.sums[i][0]},
        {"sha256_sin", tables.sums[i][1]}, {"second_path_agrees", nullptr}};
    if (second) one["second_path_agrees"] = second->sums[i] == tables.sums[i];
    record["tables"].push_back(std::move(one));
  }
  return record;
}

void Print(const nlohmann::ordered_json& group) {
  const auto text = [](const nlohmann::ordered_json& value) { return value.get<std::string>(); };
  for (const auto& table : group["tables"]) {
    const int64_t values = table["values"], open = table["by_mpfr"], undecided = table["undecided"];
    fmt::print("  {:<7} {} values: {} proven in double-double, {} by MPFR, {} undecided\n",
               text(table["dtype"]), values, values - open, open - undecided, undecided);
    fmt::print("          cos {}\n          sin {}\n", text(table["sha256_cos"]),
               text(table["sha256_sin"]));
    if (const auto& agrees = table["second_path_agrees"]; !agrees.is_null()) {
      fmt::print("          {}\n", agrees.get<bool>() ? "the second path gives the same bytes"
                                                      : "THE SECOND PATH GIVES OTHER BYTES");
    }
  }
}

int Execute(const Options& options) {
  const ModelConfig model = options.scheme.Resolve();
  for (const LayerGroup& group : model.groups) {
    Require(
        IsRotary(group.scheme),
        "table writes cos and sin of rotations, and {} is {}: `posgauge golden make` writes its "
        "values",
        Name(group.scheme), SummaryOf(group.scheme));
  }
  std::vector<Dtype> dtypes;
  for (const std::string& name : options.dtypes) {
    if (name == "all") {
      dtypes.insert(dtypes.end(), kFloatDtypes.begin(), kFloatDtypes.end());
    } else {
      dtypes.push_back(ParseFloatDtype("--dtype, where not all,", name));
    }
  }
  std::ranges::sort(dtypes);
  const auto repeated = std::ranges::unique(dtypes);
  dtypes.erase(repeated.begin(), repeated.end());
  Require(options.threads >= 0 && options.threads <= 1024, "--threads must be in 0..1024, got {}",
          options.threads);
  const Range range =
      !options.positions ? Range{0, model.Positions()} : ParseRange(*options.positions);
  std::optional<TableFile> file;
  if (options.out) file.emplace(*options.out, model, range, dtypes);

  nlohmann::ordered_json record = {{"posgauge_table", 1},
                                   {"source", model.source},
                                   {"first_position", range.first},
                                   {"end_position", range.end},
                                   {"groups", nlohmann::ordered_json::array()}};
  bool holds = true;
  for (const LayerGroup& group : model.groups) {
    const ExactRotation rotation(group.scheme);
    const Tables tables = Compute(rotation, range, dtypes, StreamPath::rows, options.threads,
                                  [&](size_t dtype, size_t part, std::string_view bytes) {
                                    if (file) file->Append(group.kind, dtypes[dtype], part, bytes);
                                  });
    std::optional<Tables> second;
    if (options.second_path) {
      second = Compute(rotation, range, dtypes, StreamPath::direct, options.threads,
                       [](size_t, size_t, std::string_view) {});
      holds = holds && second->sums == tables.sums;
    }
    for (const StreamCounts& counts : tables.counts) holds = holds && counts.undecided == 0;
    record["groups"].push_back(ToRecord(group, tables, second));
    if (options.as_json) continue;
    fmt::print("{}{}\n  layers {}; positions {}..{}, {} pairs; {:.2f} s{}\n",
               model.groups.size() == 1 ? "" : "\n", Text(group.scheme), group.kind, range.first,
               range.end - 1, RotaryOf(group.scheme).Pairs(), tables.seconds,
               second ? fmt::format(", second path {:.2f} s", second->seconds) : "");
    Print(record["groups"].back());
  }
  if (file) file->Commit();
  record["notes"] = model.notes;
  if (!options.as_json) {
    for (const std::string& note : model.notes) fmt::print("  note: {}\n", note);
  }
  if (options.as_json) fmt::print("{}\n", record.dump(2));
  return holds ? kHolds : kViolated;
}

}  // namespace

void AddTable(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "table", "proven cos/sin tables of any length: written, summed up, computed a second way");
  options->scheme.AddTo(command);
  command.add_option("--positions", options->positions,
                     "FIRST:END, the end not included, at most 2^31; 0 to --length or the config's "
                     "maximum if not given; of several axes row p is at p on every one");
  command
      .add_option("--dtype", options->dtypes,
                  "dtype of the entries, or all; f32 if not given; any number of times")
      ->allow_extra_args(false);
  command.add_option("--out", options->out,
                     "safetensors file to write: LAYERS.DTYPE.cos and .sin, [positions, pairs]");
  command.add_option("--threads", options->threads, "threads; 0 is as many as the machine has");
  command.add_flag("--second-path", options->second_path,
                   "compute every entry again by integer reduction, and compare");
  command.add_flag("--json", options->as_json, "JSON instead of text");
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
