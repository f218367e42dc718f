#include <algorithm>
#include <cmath>

#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

template <class Params>
bool SwapPairing(Params& params) {
  Pairing& pairing = params.turning.pairing;
  pairing = pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  return params.turning.Of(params.attention).Pairs() > 1;
}

// xPos with one thing wrong; zeta of pair n of `pairs`.
struct Fading {
  double (*zeta)(double n, double pairs, double gamma);
  bool tiled = false;  // tables laid out for halves, of channels that interleave
};

double RightZeta(double n, double pairs, double gamma) { return (n / pairs + gamma) / (1 + gamma); }

double XposScore(const ElementPlace& at, const Fading& fading) {
  const auto& params = at.Of<xpos::Params>();
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  const Rotary rotary = params.turning.Of(params.attention);
  const ExactTensor &q = (*at.inputs)["q"], &k = (*at.inputs)["k"];
  const auto pairs = static_cast<double>(rotary.Pairs());
  const auto angle = [&](int64_t pair, double position) {
    return position * std::pow(rotary.base, -static_cast<double>(pair) / pairs);
  };
  // Turned by an angle of their own each, as rotate_half with tables does it.
  const auto turned = [&](const ExactTensor& x, int64_t row, int64_t pair, double position) {
    const auto [first, second] = rotary.Channels(pair);
    const double u = x.At(row, at.head, first), v = x.At(row, at.head, second);
    const double a = angle(fading.tiled ? first % rotary.Pairs() : pair, position),
                 b = angle(fading.tiled ? second % rotary.Pairs() : pair, position);
    return std::array{u * std::cos(a) - v * std::sin(a), v * std::cos(b) + u * std::sin(b)};
  };
  double sum = 0;
  for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
    const auto of_query = turned(q, at.query_index, pair, at.Query()),
               of_key = turned(k, at.key_index, pair, at.Key());
    sum += (of_query[0] * of_key[0] + of_query[1] * of_key[1]) *
           std::pow(fading.zeta(static_cast<double>(pair), pairs, params.gamma),
                    (at.Query() - at.Key()) / params.scale_base);
  }
  for (int64_t c = rotary.rotary_dim; c < rotary.head_dim; ++c) {
    sum += q.At(at.query_index, at.head, c) * k.At(at.key_index, at.head, c);
  }
  return params.attention.scale == ScoreScale::one
             ? sum
             : sum / std::sqrt(static_cast<double>(rotary.head_dim));
}

// Keys of a cache that fade about a position 64 tokens from that of the queries.
bool CentresDiffer(const xpos::Params& params, NamedInputs& inputs) {
  const Rotary rotary = params.turning.Of(params.attention);
  std::vector<double>& k = inputs.tensors["k"].values;
  for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
    const double zeta =
        RightZeta(static_cast<double>(pair), static_cast<double>(rotary.Pairs()), params.gamma);
    for (int64_t channel : rotary.Channels(pair)) {
      for (auto i = static_cast<size_t>(channel); i < k.size();
           i += static_cast<size_t>(rotary.head_dim)) {
        k[i] *= std::pow(zeta, 64 / params.scale_base);
      }
    }
  }
  return true;
}

// Queries of rerope times what stands for their sharpening.
template <double (*wrong)(double token, double trained)>
bool SharpenOtherwise(const rerope::Params& params, NamedInputs& inputs) {
  const auto q = inputs.tensors.find("q");
  if (!params.trained_length || q == inputs.tensors.end()) return false;
  const auto trained = static_cast<double>(*params.trained_length);
  const ExactTensor& positions = inputs["query_positions"];
  const size_t row = q->second.values.size() / positions.values.size();
  bool any = false;
  for (size_t i = 0; i < q->second.values.size(); ++i) {
    const double token = positions.values[i / row];
    const double right = std::max(1.0, std::log(token + 1) / std::log(trained));
    any = any || wrong(token, trained) != right;
    q->second.values[i] *= wrong(token, trained) / right;
  }
  return any;
}
double Unclamped(double token, double trained) { return std::log(token + 1) / std::log(trained); }
double OneMissing(double token, double trained) {
  return token < 1 ? 1 : std::max(1.0, std::log(token) / std::log(trained));
}
double OnBothSides(double token, double trained) {
  const double right = std::max(1.0, std::log(token + 1) / std::log(trained));
  return right * right;
}

template <bool columns, bool negated>
bool SpoilAxis(const mixed::Params&, NamedInputs& inputs) {
  for (double& f : inputs.tensors[columns ? "x_frequency" : "y_frequency"].values) {
    f = negated ? -f : 0;
  }
  return true;
}

Fault Of(const char* id, const char* cause, const char* fix, const char* shows, Change change) {
  return {.id = id, .cause = cause, .fix = fix, .shows = shows, .change = std::move(change)};
}

std::vector<Fault> FaultsOfXpos() {
  using Params = xpos::Params;
  const char* zeta = "zeta_n = (2n/rotary_dim + gamma)/(1 + gamma)";
  Fault tiled =
      Of("xpos_tables_tiled",
         "tables are repeated for halves while channels take turns, so that channels of a pair "
         "turn by different angles",
         "repeat every entry for the two channels of its pair, or pair halves", "position 1",
         ChangeElement{"xpos", "scores", [](const ElementPlace& at) {
                         return XposScore(at, {RightZeta, true});
                       }});
  tiled.links = {"https://github.com/kyegomez/zeta/issues/106"};
  tiled.kinds = {"COPIED_BUG"};
  return {
      std::move(tiled),
      Of("fading_ignored", "pairs do not fade", "zeta_n^((i - j)/scale_base)", "distance 1",
         posgauge::Of<Params>([](Params& params) {
           params.scale_base = 0x1p100;
           return true;
         })),
      Of("fading_rises", "pairs grow with the distance",
         "queries take the power of their position, keys the inverse", "distance 1",
         Anyhow<Params>([](Params& params, NamedInputs&) {
           params.scale_base = -params.scale_base;
           return true;
         })),
      Of("centres_differ", "keys of the cache fade about another position than queries",
         "fade about one position in the whole run", "a cache", Given<Params>(CentresDiffer)),
      Of("zeta_unnormalised", "zeta is not divided by 1 + gamma", zeta, "distance 1",
         ChangeElement{"xpos", "scores",
                       [](const ElementPlace& at) {
                         return XposScore(at, {[](double n, double pairs, double gamma) {
                                            return n / pairs + gamma;
                                          }});
                       }}),
      Of("zeta_index_halved", "zeta counts pairs over the channels: n/rotary_dim, not 2n", zeta,
         "distance 1, two pairs",
         ChangeElement{"xpos", "scores",
                       [](const ElementPlace& at) {
                         return XposScore(at, {[](double n, double pairs, double gamma) {
                                            return RightZeta(n / 2, pairs, gamma);
                                          }});
                       }}),
      Of("zeta_reversed", "the slow pairs fade first", zeta, "distance 1, two pairs",
         ChangeElement{"xpos", "scores",
                       [](const ElementPlace& at) {
                         return XposScore(at, {[](double n, double pairs, double gamma) {
                                            return RightZeta(pairs - 1 - n, pairs, gamma);
                                          }});
                       }}),
  };
}

}  // namespace

std::vector<Fault> FaultsOfTurns() {
  std::vector<Fault> faults = FaultsOfXpos();
  const char* sharp = "queries at i times max(1, ln(i + 1)/ln(trained_length))";
  Append(
      faults,
      {
          {.id = "turning_pairs_swapped",
           .cause = "channels pair by halves where they should by neighbours, or the other way",
           .fix = "pair channels as the weights were trained",
           .shows = "two pairs, a query and a key that differ in position",
           .change = posgauge::Of<xpos::Params>(SwapPairing<xpos::Params>),
           .more = {posgauge::Of<rerope::Params>(SwapPairing<rerope::Params>),
                    posgauge::Of<dual_chunk::Params>(SwapPairing<dual_chunk::Params>),
                    posgauge::Of<mixed::Params>(SwapPairing<mixed::Params>)}},
          Of("window_unlimited", "distances beyond the window count as they are",
             "cut them to the window", "distance window + 1",
             posgauge::Of<rerope::Params>([](rerope::Params& params) {
               params.window = kLargestLength;
               return true;
             })),
          Of("sharpening_ignored", "late queries are not sharpened", sharp,
             "a query from trained_length on",
             posgauge::Of<rerope::Params>([](rerope::Params& params) {
               const bool any = params.trained_length.has_value();
               params.trained_length.reset();
               return any;
             })),
          Of("sharpening_below_one", "early queries are dampened", sharp,
             "a query below trained_length - 1",
             Given<rerope::Params>(SharpenOtherwise<Unclamped>)),
          Of("sharpening_one_late", "ln(i) stands for ln(i + 1)", sharp,
             "a query above trained_length", Given<rerope::Params>(SharpenOtherwise<OneMissing>)),
          Of("sharpening_twice", "queries are sharpened twice", sharp,
             "a query from trained_length on",
             Given<rerope::Params>(SharpenOtherwise<OnBothSides>)),
          Of("chunks_ignored", "positions are not cut into chunks", "turn keys by j mod c",
             "a position from c on",
             posgauge::Of<dual_chunk::Params>([](dual_chunk::Params& params) {
               params.chunk_size = kLargestLength;
               return true;
             })),
          Of("critical_queries", "scores take the positions by which sparse keys are chosen",
             "clamp to chunk_size one chunk later, to min(2c - 1, chunk_size) after that",
             "a query two chunks behind its key",
             posgauge::Of<dual_chunk::Params>([](dual_chunk::Params& params) {
               if (params.queries == dual_chunk::Queries::critical) return false;
               params.queries = dual_chunk::Queries::critical;
               return true;
             })),
          Of("local_ignored", "chunks are as long as chunk_size", "c = chunk_size - local_size",
             "a position from chunk_size - local_size on",
             posgauge::Of<dual_chunk::Params>([](dual_chunk::Params& params) {
               const bool any = params.local_size != 0;
               params.local_size = 0;
               return any;
             })),
          Of("axes_exchanged", "columns are counted by the frequencies of rows",
             "x_frequency times the column, y_frequency times the row", "the second patch",
             Given<mixed::Params>([](const mixed::Params&, NamedInputs& inputs) {
               std::swap(inputs.tensors["x_frequency"], inputs.tensors["y_frequency"]);
               return true;
             })),
          Of("rows_ignored", "rows do not count", "add the angles of both axes",
             "a patch of the second row", Given<mixed::Params>(SpoilAxis<false, false>)),
          Of("columns_ignored", "columns do not count", "add the angles of both axes",
             "the second patch", Given<mixed::Params>(SpoilAxis<true, false>)),
          Of("rows_reversed", "rows are counted upwards", "row 0 is the first",
             "a patch of the second row", Given<mixed::Params>(SpoilAxis<false, true>)),
          Of("columns_reversed", "columns are counted from the right", "column 0 is the first",
             "the second patch", Given<mixed::Params>(SpoilAxis<true, true>)),
          Of("keys_still", "queries alone turn", "turn keys as well", "a key other than 0",
             Given<mixed::Params>([](const mixed::Params&, NamedInputs& inputs) {
               std::ranges::fill(inputs.tensors["key_positions"].values, 0.0);
               return true;
             })),
      });
  return faults;
}

}  // namespace posgauge
