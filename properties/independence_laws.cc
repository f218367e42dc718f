#include "posgauge/properties/independence_laws.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/pairs.h"
#include "posgauge/verify/hex_float.h"
#include "posgauge/verify/random.h"

namespace posgauge {

namespace {

bool SameBits(const Tensor& a, const Tensor& b, size_t index) {
  return a.Bits(index) == b.Bits(index);
}

size_t RowSize(const Tensor& x) {
  return static_cast<size_t>(x.shape()[1]) * static_cast<size_t>(x.shape()[2]);
}

// Calls visit(row, head, channel, index) for every channel that does not rotate.
template <class Visit>
void ForEachCopied(const Rotary& layout, const Tensor& x, Visit visit) {
  for (size_t index = 0; index < x.size(); ++index) {
    const auto head_dim = static_cast<size_t>(layout.head_dim);
    const auto channel = static_cast<int64_t>(index % head_dim);
    const int64_t inside = channel - layout.rotary_offset;
    if (inside >= 0 && inside < layout.rotary_dim) continue;
    visit(index / RowSize(x), static_cast<int64_t>(index % RowSize(x) / head_dim), channel, index);
  }
}

Witness CopyWitness(const Tensor& out, const Tensor& x, size_t row, int64_t head, int64_t channel,
                    size_t index) {
  return {
      .where = fmt::format("row {}, head {}, channel {} (not rotated: a copy)", row, head, channel),
      .got = HexFloat(out.Value(index)),
      .want = HexFloat(x.Value(index))};
}

// Two results for the same rows. Where the kernel does not promise the same bits each is within the
// contract of the same rotation, so they are within twice its bound of each other.
Verdict CompareRuns(const Subject& subject, const std::vector<double>& positions, const Tensor& x,
                    const Tensor& out, const Tensor& want, bool same_bits) {
  Comparisons comparisons;
  const RotaryBound bound = FixedFrequencyBound(subject);
  ForEachPair(subject.layout(), x, [&](const PairPlace& place) {
    const PairValue in = At(x, place);
    const double position = PositionOf(subject, positions, place);
    const auto describe = [&] {
      return WitnessAt(subject, place, At(out, place), At(want, place));
    };
    if (same_bits) {
      comparisons.AddExact(position,
                           SameBits(out, want, place.first) && SameBits(out, want, place.second),
                           describe);
    } else if (IsFinite(in)) {
      comparisons.Add(position, Distance(At(out, place), {1, 0}, At(want, place)),
                      2 * PairBound(bound, position, place.pair, Norm(in)),
                      subject.magnitude() * Norm(in), describe);
    }
  });
  ForEachCopied(subject.layout(), x, [&](size_t row, int64_t head, int64_t channel, size_t index) {
    comparisons.AddExact(subject.axes().Farthest(positions, row), SameBits(out, want, index),
                         [&] { return CopyWitness(out, want, row, head, channel, index); });
  });
  return comparisons.Take();
}

Verdict CheckUntouchedChannels(const Subject& subject, const LawCase& c) {
  if (subject.layout().rotary_dim == subject.layout().head_dim) {
    throw Unsupported("every channel rotates");
  }
  const Tensor out = subject.Rotate(c.positions, c.x);
  Comparisons comparisons;
  ForEachCopied(
      subject.layout(), c.x, [&](size_t row, int64_t head, int64_t channel, size_t index) {
        comparisons.AddExact(subject.axes().Farthest(c.positions, row), SameBits(out, c.x, index),
                             [&] { return CopyWitness(out, c.x, row, head, channel, index); });
      });
  return comparisons.Take();
}

// Every pair but the chosen ones must come out with the same bits from x and from x with the chosen
// ones replaced.
template <class Chosen, class Replace>
void CompareUnchosen(const Subject& subject, const LawCase& c, const Tensor& before,
                     Comparisons& comparisons, Chosen chosen, Replace replace) {
  Tensor changed = c.x;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    if (chosen(place)) replace(changed, place);
  });
  const Tensor after = subject.Rotate(c.positions, changed);
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    if (chosen(place)) return;
    comparisons.AddExact(
        PositionOf(subject, c.positions, place),
        SameBits(before, after, place.first) && SameBits(before, after, place.second),
        [&] { return WitnessAt(subject, place, At(after, place), At(before, place)); });
  });
  ForEachCopied(
      subject.layout(), c.x, [&](size_t row, int64_t head, int64_t channel, size_t index) {
        comparisons.AddExact(subject.axes().Farthest(c.positions, row),
                             SameBits(before, after, index),
                             [&] { return CopyWitness(after, before, row, head, channel, index); });
      });
}

// Any two different pairs differ in some bit of their index: changing those with the bit set, then
// those with it clear, for every bit, shows every dependence of one pair on another. Rows and heads
// likewise, by their parity.
Verdict CheckPairIndependence(const Subject& subject, const LawCase& c) {
  const Tensor before = subject.Rotate(c.positions, c.x);
  Comparisons comparisons;
  const auto take_y = [&](Tensor& changed, const PairPlace& place) {
    changed.SetBits(place.first, c.y.Bits(place.first));
    changed.SetBits(place.second, c.y.Bits(place.second));
  };
  const auto try_both = [&](auto bit_of) {
    for (const bool set : {false, true}) {
      CompareUnchosen(
          subject, c, before, comparisons,
          [&](const PairPlace& place) { return bit_of(place) == set; }, take_y);
    }
  };
  for (int64_t bit = 1; bit < subject.layout().Pairs(); bit *= 2) {
    try_both([bit](const PairPlace& place) { return (place.pair & bit) != 0; });
  }
  if (c.x.shape()[0] > 1) try_both([](const PairPlace& place) { return place.row % 2 == 1; });
  if (c.x.shape()[1] > 1) try_both([](const PairPlace& place) { return place.head % 2 == 1; });
  return comparisons.Take();
}

// A pair with a NaN at a nonzero angle is NaN in both channels, since neither sine nor cosine of it
// is skipped; with an infinity, neither channel is a number that could pass for a result. No other
// pair sees it.
Verdict CheckNanIsolation(const Subject& subject, const LawCase& c) {
  const Tensor before = subject.Rotate(c.positions, c.x);
  Comparisons comparisons;
  const auto chosen = [&](const PairPlace& place) {
    return (static_cast<uint64_t>(place.pair + place.head) + place.row + c.seed) % 3 == 0;
  };
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto replace = [&](Tensor& changed, const PairPlace& place) {
      changed.Set(
          (place.row + static_cast<size_t>(place.pair)) % 2 == 0 ? place.first : place.second,
          value);
    };
    CompareUnchosen(subject, c, before, comparisons, chosen, replace);
    Tensor changed = c.x;
    ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
      if (chosen(place)) replace(changed, place);
    });
    const Tensor out = subject.Rotate(c.positions, changed);
    ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
      const double position = PositionOf(subject, c.positions, place);
      if (!chosen(place) || position == 0) return;
      const PairValue y = At(out, place);
      const bool lawful = std::isnan(value) ? std::isnan(y.u) && std::isnan(y.v)
                                            : !std::isfinite(y.u) && !std::isfinite(y.v);
      comparisons.AddExact(position, lawful, [&] {
        return WitnessAt(subject, place, y, {std::nan(""), std::nan("")});
      });
    });
  }
  return comparisons.Take();
}

Verdict CompareTables(const Subject& subject, const std::vector<double>& positions,
                      const TablePair& again, const TablePair& once) {
  Comparisons comparisons;
  const auto pairs = static_cast<size_t>(subject.layout().Pairs());
  for (size_t i = 0; i < once.cos.size(); ++i) {
    const bool same = SameBits(once.cos, again.cos, i) && SameBits(once.sin, again.sin, i);
    comparisons.AddExact(
        PositionOf(subject, positions, i / pairs, static_cast<int64_t>(i % pairs)), same, [&] {
          return Witness{.where = fmt::format("entry {} ({})", i,
                                              NameOfPair(subject, static_cast<int64_t>(i) %
                                                                      subject.layout().Pairs())),
                         .got = fmt::format("cos {}, sin {}", HexFloat(again.cos.Value(i)),
                                            HexFloat(again.sin.Value(i))),
                         .want = fmt::format("cos {}, sin {}", HexFloat(once.cos.Value(i)),
                                             HexFloat(once.sin.Value(i)))};
        });
  }
  return comparisons.Take();
}

Verdict CheckDeterminism(const Subject& subject, const LawCase& c) {
  if (subject.info().quantity == "table") {
    const TablePair once = subject.Table(c.positions);
    return CompareTables(subject, c.positions, subject.Table(c.positions), once);
  }
  if (subject.info().quantity == "frequencies") {
    const Subject::FrequencyOutput once = subject.Frequencies(), again = subject.Frequencies();
    Comparisons comparisons;
    for (size_t i = 0; i < once.high.size(); ++i) {
      comparisons.AddExact(0, once.high[i] == again.high[i] && once.low[i] == again.low[i], [&] {
        return Witness{.where = NameOfPair(subject, static_cast<int64_t>(i)),
                       .got = HexFloat(again.high[i]),
                       .want = HexFloat(once.high[i]),
                       .positioned = false};
      });
    }
    return comparisons.Take();
  }
  const Tensor once = subject.Rotate(c.positions, c.x), again = subject.Rotate(c.positions, c.x);
  return CompareRuns(subject, c.positions, c.x, again, once, true);
}

std::vector<size_t> Permutation(size_t count, uint64_t seed, std::string_view key) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(seed, key);
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

void CopyElements(const Tensor& from, size_t first, Tensor& to, size_t at, size_t count) {
  for (size_t i = 0; i < count; ++i) to.SetBits(at + i, from.Bits(first + i));
}

Verdict CheckHeadPermutation(const Subject& subject, const LawCase& c) {
  const auto heads = static_cast<size_t>(c.x.shape()[1]);
  if (heads < 2) throw Unsupported("one head has no order");
  const auto head_dim = static_cast<size_t>(subject.layout().head_dim);
  const std::vector<size_t> order = Permutation(heads, c.seed, "heads");
  Tensor permuted = c.x, back = c.x;
  const auto move = [&](const Tensor& from, Tensor& to, bool forth) {
    for (size_t block = 0; block < c.x.size() / head_dim; ++block) {
      const size_t partner = block / heads * heads + order[block % heads];
      CopyElements(from, (forth ? partner : block) * head_dim, to,
                   (forth ? block : partner) * head_dim, head_dim);
    }
  };
  move(c.x, permuted, true);
  move(subject.Rotate(c.positions, permuted), back, false);
  return CompareRuns(subject, c.positions, c.x, back, subject.Rotate(c.positions, c.x),
                     subject.info().Declares("batch"));
}

Verdict CheckTokenPermutation(const Subject& subject, const LawCase& c) {
  const size_t rows = subject.axes().Tokens(c.positions);
  if (rows < 2) throw Unsupported("one token has no order");
  const std::vector<size_t> order = Permutation(rows, c.seed, "tokens");
  const size_t size = RowSize(c.x);
  Tensor permuted = c.x, back = c.x;
  std::vector<double> positions;
  for (size_t row = 0; row < order.size(); ++row) {
    std::ranges::copy(subject.axes().Row(c.positions, order[row]), std::back_inserter(positions));
    CopyElements(c.x, order[row] * size, permuted, row * size, size);
  }
  const Tensor out = subject.Rotate(positions, permuted);
  for (size_t row = 0; row < order.size(); ++row) {
    CopyElements(out, row * size, back, order[row] * size, size);
  }
  return CompareRuns(subject, c.positions, c.x, back, subject.Rotate(c.positions, c.x),
                     subject.info().Declares("batch"));
}

Verdict CheckChunking(const Subject& subject, const LawCase& c) {
  const size_t rows = subject.axes().Tokens(c.positions);
  if (rows < 2) throw Unsupported("one token cannot be cut");
  const size_t cut = 1 + Random(c.seed, "cut").Below(rows - 1);
  Tensor joined = c.x;
  const auto run = [&](size_t begin, size_t end) {
    const int64_t axes = subject.axes().count;
    const std::vector<double> positions(
        c.positions.begin() + static_cast<std::ptrdiff_t>(begin) * axes,
        c.positions.begin() + static_cast<std::ptrdiff_t>(end) * axes);
    Tensor part(c.x.dtype(), {static_cast<int64_t>(end - begin), c.x.shape()[1], c.x.shape()[2]});
    CopyElements(c.x, begin * RowSize(c.x), part, 0, part.size());
    const Tensor out = subject.Rotate(positions, part);
    CopyElements(out, 0, joined, begin * RowSize(c.x), out.size());
  };
  run(0, cut);
  run(cut, rows);
  return CompareRuns(subject, c.positions, c.x, joined, subject.Rotate(c.positions, c.x),
                     subject.info().Declares("chunking"));
}

Verdict CheckInPlace(const Subject& subject, const LawCase& c) {
  const Tensor in_place = subject.Rotate(c.positions, c.x, Placement::in_place);
  return CompareRuns(subject, c.positions, c.x, in_place, subject.Rotate(c.positions, c.x),
                     subject.info().Declares("alignment"));
}

Verdict CheckPlacement(const Subject& subject, const LawCase& c) {
  const Tensor compact = subject.Rotate(c.positions, c.x);
  return CheckPlacements([&](Placement placement) {
    const Tensor placed = subject.Rotate(c.positions, c.x, placement);
    return CompareRuns(subject, c.positions, c.x, placed, compact,
                       subject.info().Declares("alignment"));
  });
}

// With Pi moving channels 2i and 2i + 1 to i and i + d/2:  half(Pi x) = Pi interleaved(x). Rows of
// the half layout are compared.
Verdict CheckPairing(const Subject& subject, const LawCase& c) {
  Scheme other_scheme = subject.scheme();
  Rotary& other_layout = RotaryOf(other_scheme);
  other_layout.pairing =
      other_layout.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  if (!subject.info().Serves(other_scheme)) throw Unsupported("serves one pairing only");
  const Subject other(subject.info(), other_scheme);
  Tensor moved = c.x;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const auto [first, second] = other_layout.Channels(place.pair);
    const size_t start =
        place.first - static_cast<size_t>(subject.layout().Channels(place.pair)[0]);
    moved.SetBits(start + static_cast<size_t>(first), c.x.Bits(place.first));
    moved.SetBits(start + static_cast<size_t>(second), c.x.Bits(place.second));
  });
  const Tensor out = other.Rotate(c.positions, moved);
  Tensor back = out;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const auto [first, second] = other_layout.Channels(place.pair);
    const size_t start =
        place.first - static_cast<size_t>(subject.layout().Channels(place.pair)[0]);
    back.SetBits(place.first, out.Bits(start + static_cast<size_t>(first)));
    back.SetBits(place.second, out.Bits(start + static_cast<size_t>(second)));
  });
  return CompareRuns(subject, c.positions, c.x, back, subject.Rotate(c.positions, c.x),
                     subject.info().Declares("pairing"));
}

constexpr std::string_view kRotations = "rotate rotate_backward";

}  // namespace

std::vector<Law> IndependenceLaws() {
  return {
      {"untouched_channels", "channels that do not rotate come out bit for bit", kRotations, false,
       CheckUntouchedChannels},
      {"pair_independence",
       "changing pairs, rows or heads changes no bit of the outputs of the others", kRotations,
       false, CheckPairIndependence},
      {"nan_isolation",
       "a pair with a NaN or an infinity shows it at a nonzero angle and touches no other pair",
       kRotations, false, CheckNanIsolation},
      {"determinism", "two identical runs give identical bits",
       "rotate rotate_backward table frequencies", false, CheckDeterminism},
      {"head_permutation", "permuting the heads permutes the result", kRotations, false,
       CheckHeadPermutation},
      {"token_permutation", "permuting tokens with their positions permutes the result", kRotations,
       false, CheckTokenPermutation},
      {"chunking", "two chunks give what one pass gives", kRotations, false, CheckChunking},
      {"in_place", "writing over the input gives what writing elsewhere gives", kRotations, false,
       CheckInPlace},
      {"placement", "packed rows, and rows with gaps off any boundary, give what compact ones give",
       kRotations, false, CheckPlacement},
      {"pairing", "half(Pi x) = Pi interleaved(x), Pi moving channels (2i, 2i+1) to (i, i+d/2)",
       kRotations, false, CheckPairing},
  };
}

}  // namespace posgauge
