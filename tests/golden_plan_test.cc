// Plans: what is refused, and that the shipped vectors are theirs.
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "posgauge/golden/plan.h"
#include "posgauge/verify/atomic_file.h"
#include "temporary_folder.h"

namespace posgauge::golden {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = POSGAUGE_SOURCE_DIR;
const fs::path kVectors = kRoot / "golden/vectors";

// The one-line error of a call, or "accepted".
std::string Refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "accepted";
}

std::string PlanRefusal(
    const std::string& cases,
    const std::string& manifest_keys = R"("parameters": {"head_dim": 4, "rotary_dim": 4})") {
  TemporaryFolder folder;
  WriteFileAtomically(folder / "rope.json",
                      fmt::format(R"({{"scheme": "rope", "manifests": [{{"name": "a", "comment": "",
                          {}, "cases": [{}]}}]}})",
                                  manifest_keys, cases));
  return Refusal([&] {
    ReadPlan(folder / "rope.json", kRoot / "golden/models", {{"Known", {"none", "x", {}}}});
  });
}

TEST(golden_plan, EveryMistakeIsNamed) {
  const std::string head = R"("id": "a", "comment": "", "flags": ["Known"])";
  const std::string table = R"("quantity": "table")", rotate = R"("quantity": "rotate")";
  EXPECT_EQ(PlanRefusal("{" + head + "," + table + R"(, "positions": [1, "0x1p-1", 0.1]})"),
            "accepted");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{" + head + "}", "cases[0] must have the key quantity"},
      {"{" + head + "," + table + "}", "cases[0] must have the key positions"},
      {"{" + head + "," + table + R"(, "positions": ["1"]})", "an element must be a hex float"},
      {"{" + head + "," + table + R"(, "positions": [1], "x": [1]})", "must not have x for table"},
      {"{" + head + "," + table + R"(, "positions": [1], "y": [1]})",
       "must not have the key \"y\""},
      {"{" + head + "," + rotate + R"(, "positions": [1], "x": [1]})", "takes 4 values, got 1"},
      {R"({"id": "a", "comment": "", "flags": [], "quantity": "frequencies"})",
       "flags must say why the case exists"},
      {R"({"id": "a", "comment": "", "flags": ["Other"], "quantity": "frequencies"})",
       "flags has \"Other\", which no note defines"},
      {"{" + head + R"(, "quantity": "frequencies"},{)" + head + R"(, "quantity": "magnitude"})",
       "cases[1].id must be unique"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string refusal = PlanRefusal(text);
    EXPECT_NE(refusal.find(expected), std::string::npos)
        << "got:    " << refusal << "\nwanted: " << expected;
  }
  const auto expect_manifest = [](const std::string& keys, const std::string& expected) {
    const std::string refusal = PlanRefusal("", keys);
    EXPECT_NE(refusal.find(expected), std::string::npos)
        << "got:    " << refusal << "\nwanted: " << expected;
  };
  expect_manifest(R"("source": "")", "must not have the key \"source\"");
  expect_manifest(R"("parameters": {"factor": 2})", "must not have the key \"factor\"");
  expect_manifest(R"("parameters": {}, "model": "x")", "must have either parameters or a model");
  expect_manifest(R"("model": "missing.json")", "No such file");
  expect_manifest(R"("model": "llama-3.1-8b.json")", "model must be of scheme rope, is llama3");
  expect_manifest(R"("model": "gemma-3-27b.json")", "must have layers, one of");
}

// Nobody edits vectors, and nobody edits a plan without writing its vectors.
TEST(golden_plan, ShippedVectorsAreThoseOfThePlans) {
  std::set<fs::path> planned_files, files;
  for (const auto& [word, manifests] : ReadPlans(kRoot / "golden")) {
    for (const PlannedManifest& planned : manifests) {
      const fs::path path = kVectors / word / (planned.name + ".json");
      planned_files.insert(path);
      const Manifest shipped = ReadManifest(path);
      EXPECT_EQ(shipped.scheme, planned.manifest.scheme) << path;
      EXPECT_EQ(shipped.comment, planned.manifest.comment) << path;
      EXPECT_EQ(shipped.source, planned.manifest.source) << path;
      for (const auto& [flag, note] : shipped.notes) {
        EXPECT_EQ(note, planned.manifest.notes.at(flag)) << path << " " << flag;
      }
      ASSERT_EQ(shipped.cases.size(), planned.manifest.cases.size()) << path;
      for (size_t i = 0; i < shipped.cases.size(); ++i) {
        const Case &a = shipped.cases[i], &b = planned.manifest.cases[i];
        EXPECT_EQ(std::tie(a.id, a.quantity, a.comment, a.flags, a.dtypes, a.inputs),
                  std::tie(b.id, b.quantity, b.comment, b.flags, b.dtypes, b.inputs))
            << path << " " << a.id;
      }
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(kVectors)) {
    if (entry.path().extension() == ".json") files.insert(entry.path());
  }
  EXPECT_EQ(files, planned_files);
}

TEST(golden_plan, EveryFlagIsUsed) {
  std::map<std::string, Note> unused = ReadNotes(kRoot / "golden/flags.json");
  for (const auto& [word, manifests] : ReadPlans(kRoot / "golden")) {
    for (const PlannedManifest& planned : manifests) {
      for (const Case& golden_case : planned.manifest.cases) {
        for (const std::string& flag : golden_case.flags) unused.erase(flag);
      }
    }
  }
  for (const auto& [flag, note] : unused) ADD_FAILURE() << flag;
}

}  // namespace
}  // namespace posgauge::golden
