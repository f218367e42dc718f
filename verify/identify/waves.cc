#include <algorithm>
#include <cmath>

#include "posgauge/verify/identify/curve_fit.h"
#include "posgauge/verify/identify/identity.h"

namespace posgauge {

namespace {

using sinusoidal::Layout;
using sinusoidal::OddWidth;
using sinusoidal::Params;

// Angles of every wave that has both a sine and a cosine, [tokens, waves]; nothing where
// sin^2 + cos^2 is not 1.
std::optional<std::vector<double>> AnglesOf(const Tensor& rows, const Params& layout,
                                            double tolerance) {
  const auto width = static_cast<size_t>(layout.width);
  const size_t waves = width / 2, tokens = rows.size() / width;
  std::vector<double> angles(tokens * waves);
  std::vector<std::array<size_t, 2>> columns(waves);
  for (size_t channel = 0; channel < width; ++channel) {
    const Channel held = layout.ChannelAt(static_cast<int64_t>(channel));
    const auto wave = static_cast<size_t>(held.wave);
    if (held.function != Wave::zero && wave < waves) {
      columns[wave][held.function == Wave::sin ? 1 : 0] = channel;
    }
  }
  for (size_t token = 0; token < tokens; ++token) {
    for (size_t wave = 0; wave < waves; ++wave) {
      const double cos = rows.Value(token * width + columns[wave][0]);
      const double sin = rows.Value(token * width + columns[wave][1]);
      if (!(std::fabs(cos * cos + sin * sin - 1) <= tolerance)) return std::nullopt;
      angles[token * waves + wave] = std::atan2(sin, cos);
    }
  }
  return angles;
}

// The row that position 0 has, from its angles: every wave narrows it, the slowest first.
std::optional<int64_t> StartOf(const std::vector<double>& at_zero, const SeenFrequencies& seen,
                               double angle_error) {
  for (size_t wave = at_zero.size(); wave-- > 0;) {
    const double frequency = seen.values[wave];
    if (!(frequency > 16 * seen.errors[wave])) continue;
    const double start = std::round(at_zero[wave] / frequency);
    bool fits = true;
    for (size_t k = 0; k < at_zero.size(); ++k) {
      const double off = std::remainder(at_zero[k] - start * seen.values[k], 2 * M_PI);
      fits = fits && std::fabs(off) <= 2 * angle_error + std::fabs(start) * seen.errors[k];
    }
    if (fits) return static_cast<int64_t>(start);
  }
  return std::nullopt;
}

bool Fits(const Params& params, const SeenFrequencies& seen, double roundoff) {
  const double denominator = static_cast<double>(params.TwiceDenominator()) / 2;
  for (size_t k = 0; k < seen.values.size(); ++k) {
    const double frequency =
        params.scale * std::pow(params.base, -static_cast<double>(k) / denominator);
    const double off = std::fabs(Wrapped(frequency - seen.values[k], seen.modulus));
    if (!(off <= seen.errors[k] + frequency * (roundoff + 0x1p-43))) return false;
  }
  return true;
}

void AddFits(const Params& layout, const SeenFrequencies& seen, double roundoff,
             std::vector<std::pair<int, Scheme>>* found) {
  std::vector<double> logs, weights;
  for (size_t k = 0; k < seen.values.size(); ++k) {
    const double relative = seen.errors[k] / seen.values[k] + roundoff + 0x1p-43;
    const bool known = seen.values[k] > 0 && relative < 0.1;
    logs.push_back(known ? std::log(seen.values[k]) : 0);
    weights.push_back(known ? 1 / relative : 0);
  }
  const Curve curve = [&](const std::vector<double>& p) {
    std::vector<double> result;
    for (size_t k = 0; k < logs.size(); ++k) {
      result.push_back(p[0] - static_cast<double>(k) * p[1]);
    }
    return result;
  };
  const std::vector<double> line = FitCurve(curve, {0, 0.3}, logs, weights);
  for (std::optional<int64_t> shift :
       {std::optional<int64_t>(), std::optional<int64_t>(1), std::optional<int64_t>(0)}) {
    Params params = layout;
    params.frequency_shift = shift;
    if (params.TwiceDenominator() <= 0) continue;
    const double denominator = static_cast<double>(params.TwiceDenominator()) / 2;
    for (int digits = 1; digits <= 17; ++digits) {
      params.base =
          RoundToDigits(logs.size() == 1 ? 10000 : std::exp(line[1] * denominator), digits);
      params.scale = RoundToDigits(std::exp(line[0]), digits);
      try {
        params.Validate();
      } catch (const ParameterError&) {
        continue;
      }
      if (!Fits(params, seen, roundoff)) continue;
      found->emplace_back(digits, Scheme(params));
      break;
    }
  }
}

}  // namespace

Identity IdentifyWaves(const Answers& answers) {
  const Tensor& rows = answers.tensors.at("rows");
  Identity identity{.source = answers.source, .quantity = answers.quantity};
  const Dtype dtype = NarrowestDtype(rows.Values());
  const double error = 16 * std::ldexp(1.0, -FormatOf(dtype).digits) + 0x1p-50;
  const auto zero = std::ranges::find(answers.positions, 0.0);
  const int64_t width = rows.shape()[1];
  std::vector<std::pair<int, Scheme>> found;
  for (Layout layout : {Layout::interleaved, Layout::halves, Layout::flipped}) {
    for (OddWidth odd : {OddWidth::refuse, OddWidth::extra_sine, OddWidth::zero}) {
      if ((width % 2 == 0) != (odd == OddWidth::refuse)) continue;
      Params params{.width = width, .layout = layout, .odd_width = odd};
      if (layout == Layout::interleaved && odd == OddWidth::zero) continue;
      if (layout == Layout::flipped && odd == OddWidth::extra_sine) continue;
      std::optional<std::vector<double>> angles = AnglesOf(rows, params, error);
      if (!angles) continue;
      const auto waves = static_cast<size_t>(width / 2);
      // Position 0 has the row `start`: angles count from there.
      std::vector<double> at_zero(waves);
      if (zero != answers.positions.end()) {
        const auto row = static_cast<size_t>(zero - answers.positions.begin());
        std::copy_n(angles->begin() + static_cast<ptrdiff_t>(row * waves), waves, at_zero.begin());
        for (size_t i = 0; i < angles->size(); ++i) (*angles)[i] -= at_zero[i % waves];
      }
      const SeenFrequencies seen = Unwrap(answers.positions, *angles, waves, 2 * error);
      const std::optional<int64_t> start = StartOf(at_zero, seen, error);
      if (!start) continue;
      params.start = *start;
      for (double roundoff : RoundoffsOf(seen)) {
        const size_t before = found.size();
        AddFits(params, seen, roundoff, &found);
        if (found.size() > before) break;
      }
    }
  }
  std::ranges::stable_sort(found, {}, &std::pair<int, Scheme>::first);
  for (auto& [digits, scheme] : found) identity.schemes.push_back(scheme);
  if (identity.schemes.empty()) {
    identity.why_not = "the rows are no sines and cosines of one series, in no known layout";
    return identity;
  }
  const auto& first = std::get<Params>(identity.schemes.front());
  identity.facts = {{"layout", std::string(VariantName(first.layout))},
                    {"waves", std::to_string(first.Waves())},
                    {"start", std::to_string(first.start)},
                    {"dtype", std::string(Name(dtype))}};
  identity.undetermined.push_back("padding_index: only a row of zeros would show it");
  if (zero == answers.positions.end()) {
    identity.undetermined.push_back("start: position 0 was not seen");
  }
  return identity;
}

}  // namespace posgauge
