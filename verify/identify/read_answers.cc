#include <cmath>
#include <numeric>

#include "posgauge/verify/case_file.h"
#include "posgauge/verify/identify/answers.h"
#include "posgauge/verify/tensor_file.h"

namespace posgauge {

namespace {

std::vector<double> Count(int64_t count) {
  std::vector<double> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), 0.0);
  return positions;
}

// The positions of a tensor's extent: those of the file, or 0, 1, 2, ...
std::vector<double> PositionsOf(const Answers& answers, const std::string& name, int64_t count) {
  const Tensor* given = answers.Find(name);
  if (given == nullptr) return Count(count);
  if (static_cast<int64_t>(given->size()) != count) {
    throw FormatError(fmt::format("{}: {} must have {} entries, one a row, got {}", answers.source,
                                  name, count, given->size()));
  }
  std::vector<double> positions = given->Values();
  for (double position : positions) {
    if (!std::isfinite(position)) {
      throw FormatError(fmt::format("{}: {} must be finite", answers.source, name));
    }
  }
  return positions;
}

void RequireShape(const Answers& answers, const std::string& name, size_t rank) {
  const Tensor& tensor = answers.tensors.at(name);
  if (tensor.shape().size() != rank || tensor.size() == 0) {
    throw FormatError(fmt::format("{}: {} must have {} extents and an element, got [{}]",
                                  answers.source, name, rank, fmt::join(tensor.shape(), ", ")));
  }
}

void RequireLike(const Answers& answers, const std::string& name, const std::string& other) {
  if (answers.tensors.at(name).shape() != answers.tensors.at(other).shape()) {
    throw FormatError(
        fmt::format("{}: {} and {} must have one shape", answers.source, name, other));
  }
}

// out - x of embeddings, in doubles: a difference of two numbers of one dtype.
Tensor Difference(const Tensor& out, const Tensor& x) {
  std::vector<double> values = out.Values();
  for (size_t i = 0; i < values.size(); ++i) values[i] -= x.Value(i);
  return Tensor::FromValues(out.dtype(), out.shape(), values);
}

}  // namespace

Answers ReadAnswers(const std::filesystem::path& path) {
  Answers answers{.source = path.string()};
  answers.tensors = ReadTensorFile(path).tensors;
  const auto has = [&](const std::string& name) { return answers.Find(name) != nullptr; };
  if (has("inv_freq") && !has("frequency")) {
    answers.tensors["frequency"] = answers.tensors["inv_freq"];
  }
  if (has("x") && has("out")) {
    RequireLike(answers, "x", "out");
    if (answers.Find("x")->shape().size() == 2) {
      answers.tensors["rows"] = Difference(*answers.Find("out"), *answers.Find("x"));
    } else {
      RequireShape(answers, "x", 3);
      answers.quantity = "rotate";
      answers.positions = PositionsOf(answers, "positions", answers.Find("x")->shape()[0]);
      return answers;
    }
  }
  if (has("cos") && has("sin")) {
    RequireShape(answers, "cos", 2);
    RequireLike(answers, "cos", "sin");
    answers.quantity = "table";
    answers.positions = PositionsOf(answers, "positions", answers.Find("cos")->shape()[0]);
    return answers;
  }
  if (has("rows")) {
    RequireShape(answers, "rows", 2);
    answers.quantity = "rows";
    answers.positions = PositionsOf(answers, "positions", answers.Find("rows")->shape()[0]);
    return answers;
  }
  for (const std::string name : {"bias", "buckets", "slopes", "frequency"}) {
    if (!has(name)) continue;
    const Tensor& tensor = *answers.Find(name);
    const size_t rank = name == "bias" ? 3 : name == "buckets" ? 2 : 1;
    RequireShape(answers, name, rank);
    answers.quantity = name == "frequency" ? "frequencies" : name;
    if (rank >= 2) {
      answers.query_positions = PositionsOf(answers, "query_positions", tensor.shape()[rank - 2]);
      answers.key_positions = PositionsOf(answers, "key_positions", tensor.shape()[rank - 1]);
    }
    return answers;
  }
  throw FormatError(fmt::format(
      "{}: must have tensors x and out, cos and sin, rows, bias, buckets, slopes or frequency",
      answers.source));
}

}  // namespace posgauge
