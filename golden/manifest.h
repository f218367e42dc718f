#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/golden/departure.h"
#include "posgauge/golden/number_json.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/proof.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/tensor.h"

namespace posgauge::golden {

/// What a case asks for; inputs and outputs by name in docs/golden-format.md.
enum class Quantity {
  frequencies,
  magnitude,
  table,
  rotate,
  rotate_backward,
  scores,
  embed,
  slopes,
  buckets,
  bias,
  attention
};

/// `valid`: the outputs are right. `acceptable`: they are those of a named dialect, which a check
/// may allow. `invalid`: they are wrong on purpose, as the named fault makes them, and a check that
/// allows them is broken.
enum class Result { valid, acceptable, invalid };

/// Why a case exists: the kind of defect that it shows.
struct Note {
  std::string bug_type;  // "precision", "layout"
  std::string description;
  std::vector<std::string> links;
  bool operator==(const Note&) const = default;
};

/// A flag that Compute sets by itself: some value of the case is not proven.
inline constexpr std::string_view kUndecidedFlag = "Undecided";

/// One output in one dtype.
struct Rounding {
  Tensor values;
  Tensor distances;  // i32 of the same shape, for f64 and f32 only: RoundedValues::distances
  ProofCounts proof;
  std::vector<int64_t> undecided;  // flat indices, ascending
  /// How near the real numbers come to where rounding turns: SmallestMidpointDistance.
  std::optional<double> midpoint;
  bool operator==(const Rounding&) const = default;
};

struct Case {
  std::string id;  // lower-case words and digits joined by '-'; unique in the manifest
  Quantity quantity = Quantity::table;
  std::string comment;
  std::vector<std::string> flags;  // each defined in the notes
  Result result = Result::valid;
  std::string fault;                     // of an invalid case; of an acceptable one the dialect
  std::string cause;                     // of both: how code comes to this answer
  Departure departure;                   // of both: what the outputs are computed with
  std::vector<Dtype> dtypes;             // floating, in the order of Dtype; of buckets only i32
  std::map<std::string, Tensor> inputs;  // f64, exact
  std::map<std::string, std::map<Dtype, Rounding>> outputs;
};

/// Everything that one manifest and its payload hold: vectors of one scheme.
struct Manifest {
  std::string generator, version;  // what wrote it
  std::string comment;
  std::string source;  // where the parameters come from; may be empty
  Scheme scheme;
  std::map<std::string, Note> notes;  // the definitions of exactly the flags in use
  std::vector<Case> cases;
};

/// The two files of a manifest as bytes.
struct Files {
  std::string manifest, payload;
};

inline constexpr int kSchemaVersion = 1;
inline constexpr uint64_t kMaxManifest = 64 << 20;  // bytes of JSON
inline constexpr uint64_t kMaxPayload = uint64_t{1} << 32;

/// Inputs with at most this many elements stand in the manifest too.
inline constexpr size_t kMostInlineValues = 64;

/// Names of the inputs and outputs of a quantity, in the order of the documentation. Throws
/// ParameterError for a quantity that the scheme does not have.
std::vector<std::string> InputsOf(const Scheme& scheme, Quantity quantity);
std::vector<std::string> OutputsOf(const Scheme& scheme, Quantity quantity);

/// The shape that an output has, given the case's inputs.
std::vector<int64_t> OutputShape(const Scheme& scheme, const Case& golden_case);

/// Throws ParameterError, beginning with the case's id, unless the inputs are exactly those of the
/// quantity, of dtype f64, with shapes that fit the scheme and each other, and positions are
/// finite.
void CheckInputs(const Scheme& scheme, const Case& golden_case);

/// Those of a case of a scheme of attention as the reference takes them.
NamedInputs NamedInputsOf(const Case& golden_case);

/// How the values of all outputs were decided.
ProofCounts ProofOf(const Case& golden_case);

/// Files below a folder with that extension (".json"), sorted. Throws FileError.
std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& folder,
                                           std::string_view extension);

/// Payloads that a manifest may have beside it: the ending of their name says which.
inline constexpr std::array<std::string_view, 2> kPayloadEndings = {".safetensors", ".npz"};

/// The canonical bytes; `payload_file` is the name that the manifest gives its payload, which is
/// written as its ending says.
Files Encode(const Manifest& manifest, const std::string& payload_file);

/// Inverse, with complete checks but for the payload's hash. Throws FormatError that begins with
/// `path`, the manifest's.
Manifest Decode(const Files& files, const std::string& path);

/// Reads a manifest and the payload beside it. Throws FileError, and FormatError if the manifest
/// does not say where its payload is.
Files ReadFiles(const std::filesystem::path& manifest_path);

/// Writes PATH.safetensors and PATH.json for the path without extension, atomically each, the
/// payload first. Throws FileError.
void WriteFiles(const std::filesystem::path& stem, const Files& files);

/// The hash that the manifest gives for the payload. Throws FormatError.
std::string PayloadHash(const Files& files, const std::string& path);

/// The ending that the manifest gives its payload, one of kPayloadEndings. Throws FormatError.
std::string PayloadEnding(const Files& files, const std::string& path);

/// Reads, checks the hash and decodes. Throws FileError and FormatError.
Manifest ReadManifest(const std::filesystem::path& path);

}  // namespace posgauge::golden

namespace posgauge {
template <>
inline constexpr auto kVariantNames<golden::Quantity> = std::array<std::string_view, 11>{
    "frequencies", "magnitude", "table",   "rotate", "rotate_backward", "scores",
    "embed",       "slopes",    "buckets", "bias",   "attention"};
template <>
inline constexpr auto kVariantNames<golden::Result> =
    std::array<std::string_view, 3>{"valid", "acceptable", "invalid"};
}  // namespace posgauge
