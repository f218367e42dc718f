#include <algorithm>
#include <cmath>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using Place = ElementPlace;

// How far two tokens are apart where a window's rows are taken to have `side` tokens.
struct Apart {
  int64_t rows, columns;
};
Apart ApartOf(const Place& at, int64_t side) {
  const auto query = static_cast<int64_t>(at.Query()), key = static_cast<int64_t>(at.Key());
  return {query / side - key / side, query % side - key % side};
}

// Swin: numbers of offsets, kept within the table.
double OffsetNumber(const Window& window, Apart apart) {
  const int64_t number =
      (apart.rows + window.h - 1) * (2 * window.w - 1) + apart.columns + window.w - 1;
  return static_cast<double>(std::clamp(number, int64_t{0}, window.Offsets() - 1));
}
double AxesSwapped(const Place& at) {
  const Window& window = at.Of<swin::Params>().window;
  const Apart apart = ApartOf(at, window.w);
  return static_cast<double>((apart.columns + window.w - 1) * (2 * window.h - 1) + apart.rows +
                             window.h - 1);
}
double WrongSide(const Place& at) {
  const Window& window = at.Of<swin::Params>().window;
  return OffsetNumber(window, ApartOf(at, window.h));
}
double OffsetsReversed(const Place& at) {
  const Window& window = at.Of<swin::Params>().window;
  return static_cast<double>(window.Offsets() - 1) - OffsetNumber(window, ApartOf(at, window.w));
}
double OffsetsAbsolute(const Place& at) {
  const Window& window = at.Of<swin::Params>().window;
  const Apart apart = ApartOf(at, window.w);
  return OffsetNumber(window, {std::abs(apart.rows), std::abs(apart.columns)});
}
template <double (*number)(const Place&)>
double EntryOf(const Place& at) {
  return (*at.inputs)["table"].At(static_cast<int64_t>(number(at)), at.head);
}

// The stride of a row of offsets.
template <int64_t (*stride)(const Window&)>
double RadixOf(const Place& at) {
  const Window& window = at.Of<swin::Params>().window;
  const Apart apart = ApartOf(at, window.w);
  const int64_t number =
      (apart.rows + window.h - 1) * stride(window) + apart.columns + window.w - 1;
  return static_cast<double>(std::clamp(number, int64_t{0}, window.Offsets() - 1));
}
int64_t SideAlone(const Window& window) { return window.w; }
int64_t HeightTwice(const Window& window) { return 2 * window.h - 1; }
int64_t OneMore(const Window& window) { return 2 * window.w; }
double OffsetLow(const Place& at) {
  const Window& window = at.Of<swin::Params>().window;
  return std::max(OffsetNumber(window, ApartOf(at, window.w)) - 1, 0.0);
}

// Swin v2 in binary64.
struct Network {
  int64_t side;                  // tokens of a row
  double steps_h, steps_w;       // what u = 8 offset / steps divides by
  bool sign = true, log = true;  // of the coordinates
  bool sigmoid = true;
  double sixteen = 16, eight = 8;
};
Network NetworkOf(const swin2::Params& params) {
  return {.side = params.window.w,
          .steps_h = static_cast<double>(params.ExtentH() - 1),
          .steps_w = static_cast<double>(params.ExtentW() - 1)};
}
double NetworkBias(const Place& at, const Network& network) {
  const NamedInputs& in = *at.inputs;
  const auto coordinate = [&](int64_t apart, double steps) {
    const double u = apart == 0 ? 0 : network.eight * static_cast<double>(apart) / steps;
    const double size = network.log ? std::log1p(std::fabs(u)) / std::log(8.0) : std::fabs(u) / 8;
    return network.sign ? std::copysign(size, u) : size;
  };
  const Apart apart = ApartOf(at, network.side);
  const double y = coordinate(apart.rows, network.steps_h),
               x = coordinate(apart.columns, network.steps_w);
  double sum = 0;
  for (int64_t unit = 0; unit < at.Of<swin2::Params>().mlp_width; ++unit) {
    const double hidden = in["w1"].At(unit, 0) * y + in["w1"].At(unit, 1) * x + in["b1"].At(unit);
    sum += in["w2"].At(at.head, unit) * std::max(hidden, 0.0);
  }
  return network.sigmoid ? network.sixteen / (1 + std::exp(-sum)) : sum;
}
double SigmoidMissing(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  network.sigmoid = false;
  return NetworkBias(at, network);
}
double CoordinateSign(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  network.sign = false;
  return NetworkBias(at, network);
}
double CoordinateLinear(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  network.log = false;
  return NetworkBias(at, network);
}
double NetworkWrongSide(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  network.side = at.Of<swin2::Params>().window.h;
  return NetworkBias(at, network);
}
double PretrainedWhole(const Place& at) {
  const auto& params = at.Of<swin2::Params>();
  Network network = NetworkOf(params);
  if (params.pretrained_h) ++network.steps_h;
  if (params.pretrained_w) ++network.steps_w;
  return NetworkBias(at, network);
}
double CosineScore(const Place& at, bool normalised, bool clamped) {
  const ExactTensor &q = (*at.inputs)["q"], &k = (*at.inputs)["k"];
  double dot = 0, of_query = 0, of_key = 0;
  for (int64_t c = 0; c < q.shape[2]; ++c) {
    const double a = q.At(at.query_index, at.head, c), b = k.At(at.key_index, at.head, c);
    dot += a * b;
    of_query += a * a;
    of_key += b * b;
  }
  const double norms = std::max(std::sqrt(of_query), 1e-12) * std::max(std::sqrt(of_key), 1e-12);
  const double tau = at.Weight("tau");
  return dot / (normalised ? norms : 1) * std::exp(clamped ? std::min(tau, std::log(100.0)) : tau) +
         NetworkBias(at, NetworkOf(at.Of<swin2::Params>()));
}
double NormsMissing(const Place& at) { return CosineScore(at, false, true); }
double TauUnclamped(const Place& at) { return CosineScore(at, true, false); }

double SixteenMissing(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  network.sixteen = 1;
  return NetworkBias(at, network);
}
double EightMissing(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  network.eight = 1;
  return NetworkBias(at, network);
}
double WholeSide(const Place& at) {
  Network network = NetworkOf(at.Of<swin2::Params>());
  ++network.steps_h;
  ++network.steps_w;
  return NetworkBias(at, network);
}
double TauAsScale(const Place& at) {
  const double exponential = std::exp(std::min(at.Weight("tau"), std::log(100.0)));
  const double bias = NetworkBias(at, NetworkOf(at.Of<swin2::Params>()));
  return (CosineScore(at, true, true) - bias) / exponential * at.Weight("tau") + bias;
}

using Value = double (*)(const Place&);

template <Value number>
Fault OfOffset(const char* id, const char* cause, const char* shows) {
  return {.id = id,
          .cause = cause,
          .fix = "(rows apart + h - 1)(2w - 1) + columns apart + w - 1, token = row w + column",
          .shows = shows,
          .change = ChangeElement{"swin", "buckets", number},
          .more = {ChangeElement{"swin", "bias", EntryOf<number>}}};
}
Fault OfNetwork(const char* id, Value value, const char* cause, const char* shows,
                const char* quantity = "bias") {
  return {.id = id,
          .cause = cause,
          .fix =
              "cos(q, k) exp(min(tau, ln 100)) + 16 sigmoid(network(c)), c = sign(u) log8(1 + "
              "|u|), u = 8 offset/(side - 1)",
          .shows = shows,
          .change = ChangeElement{"swin2", quantity, value}};
}

}  // namespace

std::vector<Fault> FaultsOfWindows() {
  Fault radix = OfOffset<RadixOf<HeightTwice>>(
      "offsets_radix_of_height", "a row of offsets is taken to be as long as a column of them",
      "a window that is not square");
  Fault side = OfOffset<RadixOf<SideAlone>>(
      "offsets_radix_of_side",
      "a row of offsets is taken to be as long as the window is wide, so "
      "that different offsets share an entry",
      "two rows");
  side.links = {"https://github.com/282857341/nnFormer/pull/88",
                "https://github.com/282857341/nnFormer/issues/8",
                "https://github.com/LitingLin/SwinTrack/issues/25"};
  side.kinds = {"SWIN_3D_RADIX", "SWIN_CONCAT"};
  std::vector<Fault> faults = FaultsOfDisentangled();
  Append(
      faults,
      {
          OfOffset<AxesSwapped>("window_axes_exchanged", "rows and columns change places",
                                "the second token of a row"),
          OfOffset<WrongSide>("wrong_side", "rows of the window are cut by its height",
                              "a window that is not square"),
          OfOffset<OffsetsReversed>("offsets_reversed", "the offset is key less query",
                                    "two tokens"),
          OfOffset<OffsetsAbsolute>("offsets_absolute", "offsets have no sign",
                                    "a key behind the query"),
          std::move(radix),
          std::move(side),
          OfOffset<RadixOf<OneMore>>("offsets_radix_long",
                                     "a row of offsets is taken to have 2w entries", "two rows"),
          OfOffset<OffsetLow>("offsets_one_low", "the entry before the offset's own is read",
                              "any token"),
          OfNetwork("sigmoid_missing", SigmoidMissing, "the network's output has no sigmoid",
                    "any token"),
          OfNetwork("sixteen_missing", SixteenMissing, "the sigmoid is not multiplied by 16",
                    "any token"),
          OfNetwork("eight_missing", EightMissing,
                    "coordinates run to 1, not 8, before their "
                    "logarithm",
                    "two tokens"),
          OfNetwork("coordinate_sign", CoordinateSign, "coordinates have no sign",
                    "a key behind the query"),
          OfNetwork("coordinate_linear", CoordinateLinear, "coordinates are not logarithms",
                    "two tokens that are no whole window apart"),
          OfNetwork("network_wrong_side", NetworkWrongSide,
                    "rows of the window are cut by its height", "a window that is not square"),
          OfNetwork("coordinate_of_whole_side", WholeSide,
                    "coordinates are divided by the side, not by the side less one", "two tokens"),
          OfNetwork("pretrained_whole", PretrainedWhole,
                    "coordinates are divided by the pretrained side, not by it less one",
                    "two tokens, a pretrained window"),
          OfNetwork("norms_missing", NormsMissing, "queries and keys are not normalised",
                    "any token", "scores"),
          OfNetwork("tau_unclamped", TauUnclamped, "tau is not clamped to ln 100",
                    "tau above ln 100", "scores"),
          OfNetwork("tau_as_scale", TauAsScale, "tau itself is the scale, not its exponential",
                    "any token", "scores"),
      });
  return faults;
}

}  // namespace posgauge
