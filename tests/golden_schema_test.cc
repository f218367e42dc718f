// Apart from golden_test.cc because the validator is slow to compile.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "posgauge/verify/atomic_file.h"

namespace posgauge {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

const std::filesystem::path kGolden = std::filesystem::path(POSGAUGE_SOURCE_DIR) / "golden";

json ReadJson(const std::filesystem::path& path) { return json::parse(ReadFile(path, 1 << 24)); }

// Empty where the document is valid.
std::string Violation(const valijson::Schema& schema, const json& document) {
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema, NlohmannJsonAdapter(document), &results)) return "";
  valijson::ValidationResults::Error error;
  if (!results.popError(error)) return "invalid";
  std::string where;
  for (const std::string& step : error.context) where += step;
  return where + ": " + error.description;
}

struct ManifestSchema : ::testing::Test {
  ManifestSchema() {
    const json text = ReadJson(kGolden / "manifest.schema.json");
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(NlohmannJsonAdapter(text), schema);
  }
  valijson::Schema schema;
  json sample = ReadJson(kGolden / "vectors/rope/worked-example-interleaved.json");
};

TEST_F(ManifestSchema, HoldsForEveryShippedManifest) {
  int manifests = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kGolden / "vectors")) {
    if (entry.path().extension() != ".json") continue;
    ++manifests;
    EXPECT_EQ(Violation(schema, ReadJson(entry.path())), "") << entry.path();
  }
  EXPECT_GT(manifests, 0);
}

TEST_F(ManifestSchema, RefusesWhatTheFormatForbids) {
  ASSERT_EQ(Violation(schema, sample), "");
  const auto expect_refused = [&](const char* pointer, const json& value) {
    json changed = sample;
    changed[json::json_pointer(pointer)] = value;
    EXPECT_NE(Violation(schema, changed), "") << pointer << " = " << value;
  };
  expect_refused("/format", "other");
  expect_refused("/schema_version", 2);
  expect_refused("/extra", 1);
  expect_refused("/generator/version", 1);
  expect_refused("/scheme/scheme", "RoPE");
  expect_refused("/notes/lower",
                 {{"bug_type", "x"}, {"description", "x"}, {"links", json::array()}});
  expect_refused("/notes/Pairing/links/0", "ftp://x");
  expect_refused("/payload/file", "../x.safetensors");
  expect_refused("/payload/file", "x.bin");
  expect_refused("/payload/sha256", "abc");
  expect_refused("/proof/exact", -1);
  expect_refused("/cases/0/id", "Bad id");
  expect_refused("/cases/0/quantity", "angle");
  expect_refused("/cases/0/flags/1", "lower");
  expect_refused("/cases/0/result", "acceptable");
  expect_refused("/cases/0/result", "invalid");  // without a fault
  expect_refused("/cases/0/fault", "x");         // of a valid case
  expect_refused("/cases/0/dtypes/0", "f8");
  expect_refused("/cases/0/inputs/x", {{"shape", {1}}});
  expect_refused("/cases/0/outputs/cos", sample["cases"][1]["outputs"]["cos"]);
  expect_refused("/cases/0/outputs/frequencies/f64/proven", 1.5);
  expect_refused("/cases/2/inputs/x/values/1", "0.5");
  expect_refused("/cases/2/inputs/x/values/1", 0.5);
  expect_refused("/cases/2/inputs/x/shape/0", -1);
}

// Room for outputs that are wrong on purpose.
TEST_F(ManifestSchema, KnowsInvalidCases) {
  sample["cases"][0]["result"] = "invalid";
  sample["cases"][0]["fault"] = "base_scaled";
  EXPECT_EQ(Violation(schema, sample), "");
}

}  // namespace
}  // namespace posgauge
