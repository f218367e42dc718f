#include "posgauge/properties/ntk.h"

#include <rapidcheck.h>

#include <algorithm>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/pairs.h"

namespace posgauge::ntk {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// What the slowest pair is divided by. arXiv:2309.00071, sec. 3.3 for the dynamic form; Qwen-1's
// doubles with the length.
double Alpha(const Params& params) {
  if (params.form == Form::qwen) {
    const double ratio =
        static_cast<double>(*params.length) / static_cast<double>(*params.trained_length);
    // Of two integers: exact where it is a power of two, and never rounded onto one from above, as
    // both are below 2^41.
    return ratio <= 1 ? 1 : 2 * std::exp2(std::ceil(std::log2(ratio))) - 1;
  }
  if (params.form != Form::dynamic) return params.factor;
  const auto trained = static_cast<double>(*params.trained_length);
  const auto beyond = std::max(static_cast<double>(*params.length) - trained, 0.0);
  return 1 + params.factor * beyond / trained;
}

// Of alpha in the ratio of a frequency to the plain one.
double Exponent(const Params& params, int64_t pair) {
  const int64_t d = params.rotary.rotary_dim;
  const double part = 2 * (static_cast<double>(pair) + 1) / static_cast<double>(d);
  if (params.form == Form::fixed) return -part;
  if (params.form == Form::mixed) return -std::pow(part, *params.mixed_exponent);
  return -2 * static_cast<double>(pair) /
         static_cast<double>(params.form == Form::naive ? d : d - 2);
}

Verdict CheckBetween(const Subject& subject, const LawCase& law_case) {
  const double alpha = Alpha(ParamsOf(subject));
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    const auto pair = static_cast<int64_t>(i);
    const double kept = schedule.plain[i], divided = kept / alpha;
    AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::at_least,
                 std::min(kept, divided));
    AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::at_most,
                 std::max(kept, divided));
  }
  return comparisons.Take();
}

Verdict CheckEnds(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  if (schedule.plain.empty()) throw Unsupported("no pairs");
  const size_t last = schedule.plain.size() - 1;
  Comparisons comparisons;
  for (const size_t i : {size_t{0}, last}) {
    const auto pair = static_cast<int64_t>(i);
    AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::equal,
                 schedule.plain[i] * std::pow(Alpha(params), Exponent(params, pair)));
  }
  return comparisons.Take();
}

Verdict CheckLogLinear(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const double alpha = Alpha(params);
  return HoldFrequencies(subject, law_case, Relation::equal, [&](int64_t pair, double plain) {
    return plain * std::pow(alpha, Exponent(params, pair));
  });
}

// p < s L0 times w' <= w s^(-2i/(d-2)) is p w' < L0 w s^(1 - 2i/(d-2)). Only the last pair stays
// below the angles that it met in training, L0 w; the note lists the others.
Verdict CheckLeavingPairs(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  Verdict verdict =
      HoldFrequencies(subject, law_case, Relation::at_most, [&](int64_t pair, double plain) {
        return plain * std::pow(params.factor, Exponent(params, pair));
      });
  const int64_t leaving = params.factor > 1 ? params.rotary.Pairs() - 1 : 0;
  if (verdict.outcome == Outcome::pass && leaving > 0) {
    verdict.note = fmt::format(
        "pairs 0..{} leave the angles met in training before position s L0, pair 0 by the factor "
        "{:g}",
        leaving - 1, params.factor);
  }
  return verdict;
}

Params WithLength(Params params, int64_t length) {
  params.length = length;
  return params;
}

Verdict CheckTrainedLength(const Subject& subject, const LawCase& law_case) {
  const int64_t trained = *ParamsOf(subject).trained_length;
  const std::vector<double> plain = FrequenciesOfPlainRope(subject.layout());
  Comparisons comparisons;
  for (const int64_t length : {int64_t{0}, int64_t{1}, trained - 1, trained}) {
    const Subject at = Rebind(subject, WithLength(ParamsOf(subject), length));
    const auto measured = MeasureFrequencies(at, LargestPosition(law_case));
    for (size_t i = 0; i < plain.size(); ++i) {
      AddFrequency(comparisons, at, static_cast<int64_t>(i), measured[i], Relation::equal,
                   plain[i]);
    }
  }
  return comparisons.Take();
}

// 2^k L + 1 to 2^(k+1) L are scaled alike.
Verdict CheckDoublings(const Subject& subject, const LawCase& law_case) {
  const int64_t trained = *ParamsOf(subject).trained_length;
  const std::vector<double> plain = FrequenciesOfPlainRope(subject.layout());
  Comparisons comparisons;
  for (const int64_t step : {trained, 2 * trained}) {
    for (const int64_t length : {step + 1, 2 * step}) {
      if (length > kLargestLength) continue;
      const Params params = WithLength(ParamsOf(subject), length);
      const Subject at = Rebind(subject, params);
      const auto measured = MeasureFrequencies(at, LargestPosition(law_case));
      const double alpha = step == trained ? 3 : 7;
      for (size_t i = 0; i < plain.size(); ++i) {
        const auto pair = static_cast<int64_t>(i);
        AddFrequency(comparisons, at, pair, measured[i], Relation::equal,
                     plain[i] * std::pow(alpha, Exponent(params, pair)));
      }
    }
  }
  return comparisons.Take();
}

Verdict CheckGrowingLength(const Subject& subject, const LawCase& law_case) {
  const int64_t trained = *ParamsOf(subject).trained_length;
  std::vector<FrequencyInterval> before;
  Comparisons comparisons;
  for (const int64_t length :
       {trained, trained + 1, trained + trained / 2, 2 * trained, 4 * trained}) {
    if (length > kLargestLength) break;
    const Subject at = Rebind(subject, WithLength(ParamsOf(subject), length));
    const auto measured = MeasureFrequencies(at, LargestPosition(law_case));
    for (size_t i = 0; i < before.size(); ++i) {
      // Both are measured; the radius of the earlier one widens the limit.
      FrequencyInterval now = measured[i];
      now.radius += before[i].radius;
      AddFrequency(comparisons, at, static_cast<int64_t>(i), now, Relation::at_most,
                   before[i].middle);
    }
    before = measured;
  }
  return comparisons.Take();
}

// A key rotated at the trained length and the same key rotated now differ by the chord of the angle
// p (w - w') between them, 2 |sin(p (w - w')/2)| times a r.
double Chord(double position, double then, double now) {
  return 2 * std::fabs(std::sin(position * (then - now) / 2));
}

std::string CacheNote(const Subject& now, const Subject& then) {
  const auto worst_at = [&](double position) {
    double worst = 0;
    for (size_t i = 0; i < now.frequencies().size(); ++i) {
      const auto pair = static_cast<int64_t>(i);
      const double allowed =
          (PairBound(now.bound(), position, pair, 1) + PairBound(then.bound(), position, pair, 1)) /
          now.magnitude();
      const double chord = Chord(position, then.frequencies()[i], now.frequencies()[i]);
      if (chord > allowed) worst = std::max(worst, chord);
    }
    return worst;
  };
  const auto trained = static_cast<double>(*ParamsOf(now).trained_length);
  for (double position = 1; position < trained; position *= 2) {
    if (worst_at(position) == 0) continue;
    double low = position / 2, high = position;
    while (high - low > 1) {
      const double middle = std::floor((low + high) / 2);
      (worst_at(middle) > 0 ? high : low) = middle;
    }
    return fmt::format(
        "keys cached up to length {} no longer match at length {}: beyond this arithmetic's error "
        "from position {} on, by {:.3g} of their norm at position {}; cache keys before rotation",
        trained, *ParamsOf(now).length, high, worst_at(trained - 1), trained - 1);
  }
  return "cached keys still match within this arithmetic's error";
}

Verdict CheckCache(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  if (*params.length <= *params.trained_length) throw Unsupported("the length has not grown");
  const Subject then = Rebind(subject, WithLength(params, *params.trained_length));
  const Tensor old_keys = then.Rotate(c.positions, c.x), keys = subject.Rotate(c.positions, c.x);
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), got = At(keys, place), old_key = At(old_keys, place);
    if (!IsFinite(x)) return;
    const auto i = static_cast<size_t>(place.pair);
    const double position = c.positions[place.row], r = Norm(x);
    const double chord = Chord(position, then.frequencies()[i], subject.frequencies()[i]);
    // Both frequencies are rounded to binary64 here, and their difference and its product again.
    // With u = 2^-53 and in units of a r: the chord's sine 4 u, r and the two products 8 u, the
    // distance of two computed pairs 13 u.
    const double rounding =
        std::fabs(position) * 0x1p-51 * std::fabs(then.frequencies()[i]) + 0x1p-48;
    const double distance = Distance(got, {1, 0}, old_key);
    comparisons.Add(position, std::fabs(distance - subject.magnitude() * r * chord),
                    PairBound(subject.bound(), position, place.pair, r) +
                        PairBound(then.bound(), position, place.pair, r) +
                        subject.magnitude() * r * rounding,
                    subject.magnitude() * r, [&] {
                      Witness witness = WitnessAt(subject, place, got, old_key);
                      witness.got = fmt::format("{:.9g} apart", distance);
                      witness.want = fmt::format("{:.9g} apart", subject.magnitude() * r * chord);
                      return witness;
                    });
  });
  return comparisons.Take(CacheNote(subject, then));
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  if (params.form == Form::naive) {
    return {
        {"naive_ends", "the fastest frequency is kept, the slowest multiplied by s^(-(d-2)/d) only",
         kShowFrequencies, true, CheckEnds},
        {"log_linear", "log(w'/w) is linear in the pair index", kShowFrequencies, true,
         CheckLogLinear}};
  }
  if (params.form == Form::fixed || params.form == Form::mixed) {
    return {{"between", "every frequency lies between the plain one and the plain one divided by s",
             kShowFrequencies, true, CheckBetween},
            {"divided_ends",
             "the fastest frequency is divided too, by its power of s, and the slowest by s",
             kShowFrequencies, true, CheckEnds},
            {"stretch", "log(w'/w) is -ln s ((i+1)/(d/2))^B; B is 1 in the fixed form",
             kShowFrequencies, true, CheckLogLinear}};
  }
  std::vector<Law> laws = {
      {"between", "every frequency lies between the plain one and the plain one divided by s",
       kShowFrequencies, true, CheckBetween},
      {"ends", "the fastest frequency is kept and the slowest divided by s", kShowFrequencies, true,
       CheckEnds},
      {"log_linear", "log(w'/w) is linear in the pair index", kShowFrequencies, true,
       CheckLogLinear}};
  if (params.form == Form::aware) {
    laws.push_back({"leaving_pairs",
                    "at p < s L0 the angle of pair i is below L0 w_i s^(1 - 2i/(d-2))",
                    kShowFrequencies, true, CheckLeavingPairs});
    return laws;
  }
  laws.push_back({"trained_length", "up to the trained length nothing is scaled", kShowFrequencies,
                  true, CheckTrainedLength});
  laws.push_back({"growing_length", "no frequency rises when the length grows", kShowFrequencies,
                  true, CheckGrowingLength});
  if (params.form == Form::qwen) {
    laws.push_back({"doublings",
                    "the slowest pair is divided by 3 up to twice the trained length, by 7 up to "
                    "four times",
                    kShowFrequencies, true, CheckDoublings});
  }
  laws.push_back({"cached_keys",
                  "keys rotated before the length grew are off by the chord 2|sin(p(w - w')/2)|",
                  "rotate", true, CheckCache});
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Rotary rotary, Form form, double factor, int64_t trained, int64_t length,
                       double exponent) {
    const bool any_width = form == Form::naive || form == Form::fixed || form == Form::mixed;
    if (!any_width && rotary.rotary_dim == 2) form = Form::naive;
    Params params{.rotary = rotary, .form = form, .factor = factor};
    if (params.DependsOnLength()) {
      params.trained_length = trained;
      params.length = length;
    }
    if (form == Form::qwen) params.factor = 1;
    if (form == Form::mixed) params.mixed_exponent = exponent;
    return params;
  };
  return rc::gen::apply(make, AnyRotary(),
                        rc::gen::element(Form::aware, Form::naive, Form::dynamic, Form::qwen,
                                         Form::fixed, Form::mixed),
                        AnyFactor(1), AnyLength(), AnyLength(),
                        rc::gen::element(1.0, 0.0, 0.625, 0.5, 2.0));
}

}  // namespace posgauge::ntk
