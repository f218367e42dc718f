#include "posgauge/cli/golden_check.h"

#include <algorithm>
#include <cmath>

#include "posgauge/verify/check.h"
#include "posgauge/verify/judge_addition.h"
#include "posgauge/verify/judge_equations.h"

namespace posgauge::cli {

namespace {

// A stored binary64 value and its distance give the real number to 2^-17 of its ulp.
std::vector<DoubleDouble> TruthIn(const golden::Rounding& rounding) {
  std::vector<DoubleDouble> truth;
  const Format format = FormatOf(Dtype::f64);
  for (size_t i = 0; i < rounding.values.size(); ++i) {
    const double value = rounding.values.Value(i);
    const double distance = rounding.distances.Value(i) * 0x1p-16;
    truth.push_back({value, std::isfinite(value) ? distance * Ulp(format, value) : 0});
  }
  return truth;
}
constexpr double kRadius = 0x1p-69;  // 2^-17 ulp of a number up to 1

const golden::Rounding* Wide(const golden::Case& golden_case, const std::string& output) {
  const auto at = golden_case.outputs.find(output);
  if (at == golden_case.outputs.end()) return nullptr;
  const auto rounding = at->second.find(Dtype::f64);
  return rounding == at->second.end() ? nullptr : &rounding->second;
}

bool ExactIn(Dtype dtype, const Tensor& x) {
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = x.Value(i);
    if (std::isfinite(value) && RoundTo(FormatOf(dtype), value) != value) return false;
  }
  return true;
}

// The finding for one case of the kernel's quantity; nothing where it cannot be asked of it.
std::optional<Finding> Hold(const Subject& subject, const RotationTruth& own,
                            const golden::Case& golden_case) {
  const std::string& quantity = subject.info().quantity;
  const double magnitude = own.magnitude();
  if (quantity == "frequencies") {
    const golden::Rounding* frequencies = Wide(golden_case, "frequencies");
    if (frequencies == nullptr) return std::nullopt;
    // Frequencies count relatively: 2^-17 ulp is at most 2^-69 of the value.
    return HoldToBound(subject.Frequencies(), {TruthIn(*frequencies), kRadius},
                       own.exact().EncloseMagnitude(), own.bound());
  }
  const std::vector<double> positions = golden_case.inputs.at("positions").Values();
  if (quantity == "table") {
    const golden::Rounding* cos = Wide(golden_case, "cos");
    const golden::Rounding* sin = Wide(golden_case, "sin");
    if (cos == nullptr || sin == nullptr) return std::nullopt;
    const TruthTable truth{TruthIn(*cos), TruthIn(*sin), kRadius * magnitude};
    return HoldToBound(subject.Table(positions), subject.layout(), positions, truth, own.bound(),
                       magnitude, subject.axes());
  }
  const golden::Rounding* out = Wide(golden_case, "out");
  const Tensor& wide = golden_case.inputs.at("x");
  if (out == nullptr || !ExactIn(subject.io(), wide)) return std::nullopt;
  const Tensor x = Tensor::FromValues(subject.io(), wide.shape(), wide.Values());
  const Tensor got = subject.Rotate(positions, x);
  const std::vector<DoubleDouble> values = TruthIn(*out);
  const Rotated rotated{subject.layout(), positions,     x, got, quantity == "rotate_backward",
                        values,           subject.axes()};
  return HoldToBound(rotated, {{}, {}, kRadius * magnitude}, own.bound());
}

std::optional<Finding> Hold(const Subject& subject, const AdditionTruth& own,
                            const golden::Case& golden_case) {
  const std::string& quantity = subject.info().quantity;
  if (quantity == "frequencies") {
    const golden::Rounding* frequencies = Wide(golden_case, "frequencies");
    if (frequencies == nullptr) return std::nullopt;
    return HoldToBound(subject.Frequencies(), {TruthIn(*frequencies), kRadius}, {{{1, 0}}, 0},
                       own.bound().waves());
  }
  const std::vector<double> positions = golden_case.inputs.at("positions").Values();
  if (quantity == "table") {
    const golden::Rounding* rows = Wide(golden_case, "rows");
    if (rows == nullptr) return std::nullopt;
    const Tensor got = subject.Rows(positions);
    return HoldToBound(Added{own.exact(), positions, nullptr, got}, {TruthIn(*rows), kRadius},
                       own.bound());
  }
  const golden::Rounding* out = Wide(golden_case, "out");
  const Tensor& wide = golden_case.inputs.at("x");
  if (out == nullptr || !ExactIn(subject.io(), wide)) return std::nullopt;
  const Tensor x = Tensor::FromValues(subject.io(), wide.shape(), wide.Values());
  const Tensor got = subject.Embed(positions, x);
  const std::vector<DoubleDouble> sums = TruthIn(*out);
  double largest = 1;
  for (DoubleDouble sum : sums) {
    if (std::isfinite(sum.high)) largest = std::max(largest, std::fabs(sum.high));
  }
  return HoldToBound(Added{own.exact(), positions, &x, got, sums}, {{}, kRadius * largest},
                     own.bound());
}

std::optional<Finding> Hold(const Subject& subject, const EquationTruth& own,
                            const golden::Case& golden_case) {
  const std::string& quantity = subject.info().quantity;
  const NamedInputs inputs = golden::NamedInputsOf(golden_case);
  const Tensor got = subject.Evaluate(inputs);
  const EquationResult judged{own.quantity(), inputs, got, FarthestQuery(inputs),
                              subject.info().Declares("rowshift")};
  if (own.quantity() == EquationQuantity::buckets) {
    std::vector<int64_t> buckets;
    for (double value : golden_case.outputs.at(quantity).at(Dtype::i32).values.Values()) {
      buckets.push_back(static_cast<int64_t>(value));
    }
    return HoldToIntegers(judged, buckets);
  }
  const golden::Rounding* wide = Wide(golden_case, std::string(OutputName(own.quantity())));
  if (wide == nullptr) return std::nullopt;
  EnclosedEach truth{TruthIn(*wide), {}};
  for (DoubleDouble value : truth.values) {
    const double finite = std::isinf(value.high) ? 0 : value.high;
    truth.radii.push_back(0x1p-17 * Ulp(FormatOf(Dtype::f64), finite));
  }
  return HoldToBound(judged, truth, own.bound().Limits(own.quantity(), inputs, got.shape()),
                     own.bound().contract());
}

std::optional<Finding> Hold(const Subject& subject, const golden::Case& golden_case) {
  if (VariantName(golden_case.quantity) != subject.info().quantity ||
      golden_case.result != golden::Result::valid) {
    return std::nullopt;
  }
  if (const auto at = golden_case.inputs.find("positions"); at != golden_case.inputs.end()) {
    const std::vector<double> positions = at->second.Values();
    if (ServedPositions(subject.info(), positions).size() < positions.size()) {
      throw Unsupported("positions beyond the kernel's range");
    }
  }
  return std::visit([&](const auto& own) { return Hold(subject, own, golden_case); },
                    subject.truth());
}

}  // namespace

GoldenVectors::GoldenVectors(const std::filesystem::path& folder) {
  for (const std::filesystem::path& path : golden::FilesIn(folder, ".json")) {
    manifests_.push_back({path.stem().string(), golden::ReadManifest(path)});
  }
}

size_t GoldenVectors::CountFor(const Scheme& scheme) const {
  return static_cast<size_t>(std::ranges::count_if(
      manifests_, [&](const Named& named) { return named.manifest.scheme == scheme; }));
}

std::vector<Verdict> GoldenVectors::Check(const Subject& subject) const {
  std::vector<Verdict> verdicts;
  for (const auto& [name, manifest] : manifests_) {
    if (!(manifest.scheme == subject.scheme())) continue;
    Finding all;
    size_t executed = 0, skipped = 0;
    std::string why_skipped, failure;
    std::optional<Failure> how;
    for (const golden::Case& golden_case : manifest.cases) {
      try {
        const std::optional<Finding> finding = Hold(subject, golden_case);
        if (!finding) continue;
        ++executed;
        all.use.Merge(finding->use);
        if (!all.first_failure && finding->first_failure) {
          all.first_failure = finding->first_failure;
          all.first_failure->where += fmt::format(", golden case {}", golden_case.id);
        }
        if (!all.worst || (finding->worst && finding->worst->use > all.worst->use)) {
          all.worst = finding->worst;
        }
      } catch (const Unsupported& unsupported) {
        ++skipped;
        why_skipped = unsupported.what();
      } catch (const KernelFailure& kernel_failure) {
        if (kernel_failure.failure() > how) {
          failure = fmt::format("golden case {}: {}", golden_case.id, kernel_failure.what());
          how = kernel_failure.failure();
        }
      }
    }
    if (executed == 0 && skipped == 0 && failure.empty()) continue;
    Verdict verdict =
        ToVerdict("golden:" + name,
                  "the outputs for the golden inputs are within the bound of the golden values",
                  subject.info().name, all);
    if (!failure.empty()) {
      verdict.outcome = Outcome::fail;
      verdict.note = std::move(failure);
      verdict.failure = how;
    } else if (skipped > 0) {
      verdict.note = fmt::format("{} cases left out: {}", skipped, why_skipped);
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace posgauge::cli
