// Which rounding hypothesis reproduces what was seen.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/identify/identity.h"
#include "posgauge/verify/pipeline.h"

namespace posgauge {

namespace {

constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;

// The formulas whose rounding gives the frequencies that were seen, in the contract's words.
std::vector<std::string> FormulasOf(const SeenFrequencies& seen, const Scheme& scheme, Dtype held) {
  std::vector<std::string> names;
  for (FrequencyFormula formula : {FrequencyFormula::rn, FrequencyFormula::pow,
                                   FrequencyFormula::exp, FrequencyFormula::recurrence}) {
    Contract contract;
    contract.frequency = ArithmeticOf(held);
    contract.frequency_formula = formula;
    const Pipeline pipeline(contract, scheme);
    bool same = true;
    for (size_t i = 0; i < seen.values.size(); ++i) {
      const double off =
          std::fabs(Wrapped(pipeline.frequencies()[i].high - seen.values[i], seen.modulus));
      same = same && off <= seen.errors[i] + std::fabs(seen.values[i]) * 0x1p-52;
    }
    if (same) names.push_back(std::string(VariantName(formula)));
  }
  return names;
}

double InFormat(Arithmetic arithmetic, double value) {
  return arithmetic == Arithmetic::exact ? value : RoundTo(FormatOf(arithmetic), value);
}

// Whether every angle is the product of position and frequency with those roundings. Frequencies
// that are known only within an error leave the angle as open as the position times that.
bool AnglesAre(const Answers& answers, const SeenRotation& seen,
               const std::vector<DoubleDouble>& held, const std::vector<double>& held_errors,
               Arithmetic position_in, Arithmetic angle_in) {
  const size_t pairs = held.size();
  for (size_t token = 0; token < answers.positions.size(); ++token) {
    const double position = InFormat(position_in, answers.positions[token]);
    for (size_t pair = 0; pair < pairs; ++pair) {
      long double angle = static_cast<long double>(held[pair].high) * position +
                          static_cast<long double>(held[pair].low) * position;
      if (angle_in != Arithmetic::exact) angle = InFormat(angle_in, static_cast<double>(angle));
      const long double off = std::fabs(std::remainder(
          static_cast<long double>(seen.angles[token * pairs + pair]) - angle, kTurn));
      const double open = seen.angle_error + held_errors[pair] * std::fabs(position);
      if (!(off <= open)) return false;
    }
  }
  return true;
}

}  // namespace

std::string ContractOf(const Answers& answers, const SeenRotation& seen, const Scheme& scheme,
                       std::vector<std::string>* undetermined) {
  const SeenFrequencies& frequencies = seen.frequencies;
  std::string line;
  const auto word = [&](const std::string& text) { line += (line.empty() ? "" : " ") + text; };
  const std::optional<Dtype> held_in = HeldDtype(frequencies);
  std::vector<DoubleDouble> held;
  std::vector<double> errors(frequencies.values.size());
  const std::vector<std::string> formulas = held_in && *held_in != Dtype::f64
                                                ? FormulasOf(frequencies, scheme, *held_in)
                                                : std::vector<std::string>{};
  std::string frequency_word;
  if (held_in && *held_in != Dtype::f64) {
    for (size_t i = 0; i < errors.size(); ++i) {
      held.push_back({RoundTo(FormatOf(*held_in), frequencies.values[i]), 0});
    }
    // The powers of a formula are only as good as a library's: where none reproduces every bit, the
    // weakest is declared.
    frequency_word =
        fmt::format("frequency={}:{}", Name(*held_in), formulas.empty() ? "pow" : formulas.front());
    if (formulas.empty()) undetermined->push_back("frequency: no formula reproduces every bit");
    if (formulas.size() > 1) {
      undetermined->push_back(
          fmt::format("frequency formula: one of {}", fmt::join(formulas, ", ")));
    }
  } else {
    held = ExactRotation(scheme).EncloseFrequencies().values;
    for (size_t i = 0; i < errors.size(); ++i) {
      errors[i] = std::max(frequencies.errors[i], std::fabs(held[i].high) * 0x1p-21);
      if (held_in) errors[i] = std::fabs(held[i].high) * 0x1p-48;
    }
    if (held_in) {
      frequency_word = "frequency=f64";
      undetermined->push_back("frequency: in f64 or wider");
    } else {
      undetermined->push_back("frequency: its precision does not show at these positions");
    }
  }
  if (answers.quantity != "frequencies") {
    // The weakest that reproduces every angle, so that the line promises no more than was seen.
    std::vector<std::string> fit;
    for (Arithmetic position_in :
         {Arithmetic::exact, Arithmetic::f32, Arithmetic::f16, Arithmetic::bf16}) {
      for (Arithmetic angle_in : {Arithmetic::exact, Arithmetic::f64, Arithmetic::f32,
                                  Arithmetic::f16, Arithmetic::bf16}) {
        if (AnglesAre(answers, seen, held, errors, position_in, angle_in)) {
          fit.push_back(
              fmt::format("position={} angle={}", VariantName(position_in), VariantName(angle_in)));
        }
      }
    }
    if (fit.empty()) {
      undetermined->push_back("angle: no rounding of position and product reproduces the angles");
    } else {
      word(fit.back());
      if (fit.size() > 1) {
        undetermined->push_back(fmt::format("angle: as good are {}", fmt::join(fit, "; ")));
      }
    }
  }
  if (!frequency_word.empty()) word(frequency_word);
  if (seen.table) word(fmt::format("table={}", Name(*seen.table)));
  if (const Tensor* out = answers.Find("out"); out != nullptr && IsFloat(out->dtype())) {
    word(fmt::format("store={}", Name(out->dtype())));
    undetermined->push_back("rotate, trig, store rounding: not determined from these inputs");
  }
  return line;
}

}  // namespace posgauge
