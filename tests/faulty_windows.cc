#include "faulty_windows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "faulty_elements.h"
#include "posgauge/reference/deberta.h"
#include "posgauge/reference/swin.h"

namespace posgauge {

namespace {

using Place = ElementPlace;

// DeBERTa: rows.
int64_t RowOf(const deberta::Params& params, const Place& at, double query, double key) {
  return deberta::Head<double>(params, *at.inputs, at.head).Bucket(query, key);
}
double RowsSwapped(const Place& at) {
  return static_cast<double>(RowOf(at.Of<deberta::Params>(), at, at.Key(), at.Query()));
}
// A logarithm in binary32 that is an ulp high, as fast libraries may be.
double TieRaised(const Place& at) {
  const auto& params = at.Of<deberta::Params>();
  const auto mid = static_cast<float>(params.position_buckets / 2);
  const auto last = static_cast<float>(params.max_position - 1);
  auto n = static_cast<float>(at.Distance());
  if (n <= mid) return static_cast<double>(RowOf(params, at, at.Query(), at.Key()));
  if (params.far == deberta::Far::clamp) n = std::min(n, last);
  const float high = std::nextafter(std::log(n / mid), std::numeric_limits<float>::infinity());
  const float beside = mid + std::ceil(high / std::log(last / mid) * (mid - 1));
  const auto span = static_cast<double>(params.Span());
  const double row = span + (at.Key() > at.Query() ? -1 : 1) * static_cast<double>(beside);
  return std::clamp(row, 0.0, 2 * span - 1);
}
double FarUnclamped(const Place& at) {
  deberta::Params params = at.Of<deberta::Params>();
  params.far = deberta::Far::bucket;
  return static_cast<double>(RowOf(params, at, at.Query(), at.Key()));
}
double AfterShort(const Place& at) {
  const double key = at.Key() > at.Query() ? at.Key() - 1 : at.Key();
  return static_cast<double>(RowOf(at.Of<deberta::Params>(), at, at.Query(), key));
}

// DeBERTa: scores of these parameters and inputs.
double DebertaScore(const Place& at, const deberta::Params& params, const NamedInputs& inputs) {
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  return deberta::Head<double>(params, inputs, at.head).Score(at.query_index, at.key_index);
}
double TermsUncounted(const Place& at) {
  const auto& params = at.Of<deberta::Params>();
  const double score = DebertaScore(at, params, *at.inputs);
  return params.attention.scale == ScoreScale::one
             ? score
             : score * std::sqrt(static_cast<double>(params.Terms()));
}
double P2cIndexIgnored(const Place& at) {
  deberta::Params params = at.Of<deberta::Params>();
  params.p2c_index = deberta::P2cIndex::same;
  return DebertaScore(at, params, *at.inputs);
}
// Tables of rows of norm 1.
double TableNormalised(const Place& at) {
  NamedInputs inputs = *at.inputs;
  for (const char* name : {"position_keys", "position_queries"}) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end()) continue;
    std::vector<double>& values = found->second.values;
    const auto width = static_cast<size_t>(found->second.shape[2]);
    for (size_t row = 0; row < values.size(); row += width) {
      double squares = 1e-300;
      for (size_t c = row; c < row + width; ++c) squares += values[c] * values[c];
      for (size_t c = row; c < row + width; ++c) values[c] /= std::sqrt(squares);
    }
  }
  return DebertaScore(at, at.Of<deberta::Params>(), inputs);
}

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

// Swin v2 in binary64.
struct Network {
  int64_t side;                  // tokens of a row
  double steps_h, steps_w;       // what u = 8 offset / steps divides by
  bool sign = true, log = true;  // of the coordinates
  bool sigmoid = true;
};
Network NetworkOf(const swin2::Params& params) {
  return {.side = params.window.w,
          .steps_h = static_cast<double>(params.ExtentH() - 1),
          .steps_w = static_cast<double>(params.ExtentW() - 1)};
}
double NetworkBias(const Place& at, const Network& network) {
  const NamedInputs& in = *at.inputs;
  const auto coordinate = [&](int64_t apart, double steps) {
    const double u = apart == 0 ? 0 : 8 * static_cast<double>(apart) / steps;
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
  return network.sigmoid ? 16 / (1 + std::exp(-sum)) : sum;
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
double PretrainedIgnored(const Place& at) {
  swin2::Params params = at.Of<swin2::Params>();
  params.pretrained_h.reset();
  params.pretrained_w.reset();
  return NetworkBias(at, NetworkOf(params));
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
  return dot / (normalised ? norms : 1) * std::exp(clamped ? std::min(tau, std::log(100)) : tau) +
         NetworkBias(at, NetworkOf(at.Of<swin2::Params>()));
}
double NormsMissing(const Place& at) { return CosineScore(at, false, true); }
double TauUnclamped(const Place& at) { return CosineScore(at, true, false); }

using Fault = ElementFault;

constexpr std::array kFaults = {
    Fault{"rows_swapped", "deberta", "buckets", RowsSwapped},
    Fault{"tie_raised", "deberta", "buckets", TieRaised},
    Fault{"far_unclamped", "deberta", "buckets", FarUnclamped},
    Fault{"after_short", "deberta", "buckets", AfterShort},
    Fault{"terms_uncounted", "deberta", "scores", TermsUncounted},
    Fault{"p2c_index_ignored", "deberta", "scores", P2cIndexIgnored},
    Fault{"table_normalised", "deberta", "scores", TableNormalised},
    Fault{"axes_exchanged", "swin", "buckets", AxesSwapped},
    Fault{"axes_exchanged", "swin", "bias", EntryOf<AxesSwapped>},
    Fault{"wrong_side", "swin", "buckets", WrongSide},
    Fault{"wrong_side", "swin", "bias", EntryOf<WrongSide>},
    Fault{"offsets_reversed", "swin", "buckets", OffsetsReversed},
    Fault{"offsets_reversed", "swin", "bias", EntryOf<OffsetsReversed>},
    Fault{"offsets_absolute", "swin", "buckets", OffsetsAbsolute},
    Fault{"offsets_absolute", "swin", "bias", EntryOf<OffsetsAbsolute>},
    Fault{"sigmoid_missing", "swin2", "bias", SigmoidMissing},
    Fault{"coordinate_sign", "swin2", "bias", CoordinateSign},
    Fault{"coordinate_linear", "swin2", "bias", CoordinateLinear},
    Fault{"network_wrong_side", "swin2", "bias", NetworkWrongSide},
    Fault{"pretrained_whole", "swin2", "bias", PretrainedWhole},
    Fault{"pretrained_ignored", "swin2", "bias", PretrainedIgnored},
    Fault{"norms_missing", "swin2", "scores", NormsMissing},
    Fault{"tau_unclamped", "swin2", "scores", TauUnclamped},
};

}  // namespace

std::span<const posgauge_kernel> FaultyWindows() {
  static const ElementFaults<kFaults> faults;
  return faults.kernels();
}

}  // namespace posgauge
