#include <algorithm>
#include <cmath>

#include "posgauge/reference/attention.h"
#include "posgauge/reference/kerple.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using Place = ElementPlace;

// FIRE: the network of x.
double NetworkOf(const Place& at, double x, bool relu = true) {
  const NamedInputs& in = *at.inputs;
  double sum = in["b2"].At(at.head);
  for (int64_t unit = 0; unit < at.Of<fire::Params>().mlp_width; ++unit) {
    const double hidden = in["w1"].At(unit) * x + in["b1"].At(unit);
    sum += in["w2"].At(at.head, unit) * (relu ? std::max(hidden, 0.0) : hidden);
  }
  return sum;
}
double Psi(const Place& at, double t) { return std::log1p((*at.inputs)["c"].At(0) * std::fabs(t)); }
double Threshold(const Place& at) { return (*at.inputs)["threshold"].At(0); }
double Normalised(const Place& at, double scale, double epsilon) {
  return Psi(at, at.Distance()) / (Psi(at, scale) + epsilon);
}
double Epsilon(const Place& at) { return at.Of<fire::Params>().epsilon; }

double NormalisedByKey(const Place& at) {
  return NetworkOf(at, Normalised(at, std::max(Threshold(at), at.Key()), Epsilon(at)));
}
double ThresholdIgnored(const Place& at) {
  return NetworkOf(at, Normalised(at, std::max(512.0, at.Query()), Epsilon(at)));
}
double ThresholdAlone(const Place& at) {
  return NetworkOf(at, Normalised(at, Threshold(at), Epsilon(at)));
}
double EpsilonMissing(const Place& at) {
  return NetworkOf(at, Normalised(at, std::max(Threshold(at), at.Query()), 0));
}
double Unnormalised(const Place& at) { return NetworkOf(at, Psi(at, at.Distance())); }
double WithoutLogarithm(const Place& at) {
  return NetworkOf(at, at.Distance() / (std::max(Threshold(at), at.Query()) + Epsilon(at)));
}
double WithoutRelu(const Place& at) {
  return NetworkOf(at, Normalised(at, std::max(Threshold(at), at.Query()), Epsilon(at)), false);
}
double FireMissingOne(const Place& at) {
  const double c = (*at.inputs)["c"].At(0), scale = std::max(Threshold(at), at.Query());
  return NetworkOf(at, std::log(c * at.Distance()) / (std::log(c * scale) + Epsilon(at)));
}

// KERPLE.
double KerpleBias(const Place& at) {
  return kerple::Head<double>(at.Of<kerple::Params>(), *at.inputs, at.head)
      .Bias(at.Query(), at.Key());
}
bool IsLog(const Place& at) { return at.Of<kerple::Params>().kernel == kerple::Kernel::log; }
double KerpleMissingOne(const Place& at) {
  if (!IsLog(at)) return -at.Weight("r1") * std::pow(at.Distance() + 1, at.Weight("r2"));
  return -at.Weight("r1") * std::log(at.Weight("r2") * at.Distance());
}
double LogBase(const Place& at) {
  if (!IsLog(at)) return KerpleBias(at);
  return -at.Weight("r1") * std::log2(1 + at.Weight("r2") * at.Distance());
}
double Log1pNaive(const Place& at) {
  if (!IsLog(at)) return KerpleBias(at);
  const auto x = static_cast<float>(at.Weight("r2") * at.Distance());
  return -at.Weight("r1") * static_cast<double>(std::log(1 + x));
}
double RateIgnored(const Place& at) {
  if (!IsLog(at)) return -at.Weight("r1") * at.Distance();
  return -at.Weight("r1") * std::log1p(at.Distance());
}
double ExponentDoubled(const Place& at) {
  if (IsLog(at)) return KerpleBias(at);
  return -at.Weight("r1") * std::pow(at.Distance(), 2 * at.Weight("r2"));
}
double RateAndFactorSwapped(const Place& at) {
  if (!IsLog(at)) return -at.Weight("r2") * std::pow(at.Distance(), at.Weight("r1"));
  return -at.Weight("r2") * std::log1p(at.Weight("r1") * at.Distance());
}
double FactorIgnored(const Place& at) { return KerpleBias(at) / at.Weight("r1"); }
// A lower triangle of distances, zero above it.
double FutureZero(const Place& at) { return at.Key() > at.Query() ? 0 : KerpleBias(at); }

// The scores of `weighted`, whose factor on <q, k> decays with the distance.
template <class Score>
double Weighted(const Place& at, const Score& score) {
  const auto& params = at.Of<kerple::Params>();
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  const double dot =
      Scaled(params.attention, DotOf<double>(*at.inputs, at.head, at.query_index, at.key_index));
  const double exponent =
      params.weighted ? at.Weight("w1") * std::pow(at.Distance(), at.Weight("w2")) : 0;
  return score(dot, KerpleBias(at), exponent, params.weighted);
}
double FactorOnBias(const Place& at) {
  return Weighted(at, [](double dot, double bias, double exponent, bool weighted) {
    return (dot + bias) * (weighted ? std::exp(-exponent) : 0.5);
  });
}
double WeightIgnored(const Place& at) {
  return Weighted(at, [](double dot, double bias, double, bool) { return dot + bias; });
}
double WeightRises(const Place& at) {
  return Weighted(at, [](double dot, double bias, double exponent, bool) {
    return dot * std::exp(exponent) + bias;
  });
}

// Sandwich: the sum of a function of D base^(-2k/width), k from first_index on.
double SumOf(const Place& at, double (*term)(double), double twice = 2) {
  const auto& params = at.Of<sandwich::Params>();
  double sum = params.centred ? -static_cast<double>(params.sandwich_width / 2) : 0;
  const int64_t first = params.first_index;
  for (int64_t k = first; k < first + params.sandwich_width / 2; ++k) {
    const double exponent =
        -twice * static_cast<double>(k) / static_cast<double>(params.sandwich_width);
    sum += term((at.Query() - at.Key()) * std::pow(params.base, exponent));
  }
  return sum;
}
double HeadFactor(const Place& at, int64_t from = 1) {
  return static_cast<double>(at.Of<sandwich::Params>().attention.heads) /
         (8 * static_cast<double>(at.head + from));
}
double NoCosine(const Place& at) {
  return SumOf(at, [](double x) { return x; }) * HeadFactor(at);
}
double Sines(const Place& at) {
  return SumOf(at, [](double x) { return std::sin(x); }) * HeadFactor(at);
}
double Cosine(double x) { return std::cos(x); }
double RatioIgnored(const Place& at) { return SumOf(at, Cosine); }
double RatioInverted(const Place& at) { return SumOf(at, Cosine) / HeadFactor(at); }
double RatioOneLate(const Place& at) { return SumOf(at, Cosine) * HeadFactor(at, 2); }
double EightMissing(const Place& at) { return SumOf(at, Cosine) * HeadFactor(at) * 8; }
double HalfExponent(const Place& at) { return SumOf(at, Cosine, 1) * HeadFactor(at); }

Fault Of(const char* id, const char* scheme, double (*value)(const Place&), const char* cause,
         const char* fix, const char* shows) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = ChangeElement{scheme, "bias", value}};
}

std::vector<Fault> FaultsOfNetworks() {
  const char* formula = "x = psi(i - j)/(psi(max(L, i)) + epsilon), psi(t) = ln(1 + c |t|)";
  return {
      Of("normalised_by_key", "fire", NormalisedByKey,
         "the distance is normalised by the key's position", formula, "a query above L"),
      Of("threshold_ignored", "fire", ThresholdIgnored, "L is 512, whatever was learned", formula,
         "a threshold other than 512"),
      Of("normalised_by_threshold", "fire", ThresholdAlone,
         "the distance is normalised by L even where the query is beyond it", formula,
         "a query above L"),
      Of("epsilon_missing", "fire", EpsilonMissing, "nothing is added to the denominator", formula,
         "epsilon above 0"),
      Of("unnormalised", "fire", Unnormalised, "the distance is not normalised", formula,
         "distance 1"),
      Of("distance_without_logarithm", "fire", WithoutLogarithm, "distances are not logarithms",
         formula, "distance 1"),
      Of("relu_missing", "fire", WithoutRelu, "the hidden layer has no relu",
         "w2 . relu(w1 x + b1) + b2", "a hidden unit below 0"),
      Of("fire_missing_one", "fire", FireMissingOne, "ln(c t) stands for ln(1 + c t)", formula,
         "distance 1"),
  };
}

std::vector<Fault> FaultsOfSums() {
  const char* ratio = "the factor of head h of H, from 1 on, is H/(8 h)";
  return {
      Of("no_cosine", "sandwich", NoCosine, "angles are added up in place of their cosines",
         "sum cos((i - j) frequency)", "distance 0"),
      Of("sines", "sandwich", Sines, "sines are added up in place of cosines",
         "sum cos((i - j) frequency)", "distance 0"),
      Of("ratio_ignored", "sandwich", RatioIgnored, "all heads have the same factor", ratio,
         "two heads"),
      Of("ratio_inverted", "sandwich", RatioInverted, "the factor of a head is 8 h/H", ratio,
         "any head"),
      Of("ratio_one_late", "sandwich", RatioOneLate,
         "every head has the factor of the one behind it", ratio, "any head"),
      Of("ratio_eight_missing", "sandwich", EightMissing, "the 8 is left out of the heads' factor",
         ratio, "any head"),
      Of("sandwich_exponent_halved", "sandwich", HalfExponent,
         "frequency k is base^(-k/width), the 2 left out", "base^(-2k/width)",
         "distance 1, two waves"),
  };
}

}  // namespace

std::vector<Fault> FaultsOfBiases() {
  std::vector<Fault> faults = FaultsOfSlopes();
  Append(faults, FaultsOfBuckets());
  Append(faults,
         {
             Of("kerple_missing_one", "kerple", KerpleMissingOne,
                "ln(r2 D) stands for ln(1 + r2 D), or D + 1 for D of the power", "log1p(r2 D)",
                "distance 0"),
             Of("log_base", "kerple", LogBase, "the logarithm is that of base 2", "the natural one",
                "distance 1, kernel log"),
             Of("log1p_naive", "kerple", Log1pNaive, "1 + r2 D is rounded before its logarithm",
                "log1p(r2 D)", "a small r2 D, kernel log"),
             Of("rate_ignored", "kerple", RateIgnored, "r2 counts as 1", "let r2 reach the kernel",
                "distance 2, r2 other than 1"),
             Of("rate_factor_ignored", "kerple", FactorIgnored, "r1 counts as 1",
                "let r1 reach the kernel", "distance 1, r1 other than 1"),
             Of("rate_and_factor_swapped", "kerple", RateAndFactorSwapped,
                "r1 and r2 change places", "-r1 ln(1 + r2 D)", "distance 2, r1 other than r2"),
             Of("exponent_doubled", "kerple", ExponentDoubled, "the power is that of D^2", "D^r2",
                "distance 2, kernel power"),
             Of("future_zero", "kerple", FutureZero, "keys behind the query have no bias",
                "the distance is |i - j|", "a key behind the query"),
             {.id = "factor_on_bias",
              .cause = "the decaying weight multiplies the bias too",
              .fix = "multiply scaled <q, k> by it, then add the bias",
              .shows = "distance 1, weighted",
              .change = ChangeElement{"kerple", "scores", FactorOnBias}},
             {.id = "weight_left_out",
              .cause = "<q, k> is not multiplied by the decaying weight",
              .fix = "exp(-w1 D^w2) times scaled <q, k>",
              .shows = "distance 1, weighted",
              .change = ChangeElement{"kerple", "scores", WeightIgnored}},
             {.id = "weight_rises",
              .cause = "the weight on <q, k> grows with the distance",
              .fix = "exp(-w1 D^w2), with its sign",
              .shows = "distance 1, weighted",
              .change = ChangeElement{"kerple", "scores", WeightRises}},
         });
  Append(faults, FaultsOfNetworks());
  Append(faults, FaultsOfSums());
  return faults;
}

}  // namespace posgauge
