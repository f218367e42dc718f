#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace posgauge::golden {

/// Something about a corpus that its rules do not allow.
struct LintFinding {
  std::string file, rule, what;
};

struct Lint {
  int64_t files = 0, cases = 0, bytes = 0;
  std::vector<LintFinding> findings;
};

/// How much a corpus may weigh for git, in bytes.
inline constexpr int64_t kMostCorpusBytes = int64_t{20} << 20;

/// Reads a corpus without recomputing it. By rule:
///
///   schema      every manifest fits golden/manifest.schema.json
///   format      it decodes, and its payload is the one that it names
///   name        it lies in the folder of its scheme's word, and its payload has its name
///   provenance  what made it and what it is about are said, and why each case exists
///   duplicate   no two cases ask the same of the same inputs and expect the same label, but for
///               those of two models
///   label       beside every wrong or acceptable answer there is the right one of the same inputs
///   stray       no file that belongs to no manifest
///   size        all files together take at most `most_bytes`
///
/// Throws FileError where the folder cannot be listed.
Lint LintCorpus(const std::filesystem::path& root, int64_t most_bytes = kMostCorpusBytes);

}  // namespace posgauge::golden
