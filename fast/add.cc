#include "posgauge/fast/add.h"

#include <cmath>
#include <cstring>

#include "posgauge/fast/angles.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/sinusoidal.h"

namespace posgauge::fast {

namespace {

const sinusoidal::Params& SinusoidalOf(const Scheme& scheme) {
  const auto* params = std::get_if<sinusoidal::Params>(&scheme);
  Require(params != nullptr, "these rows are those of sinusoidal, got {}", Name(scheme));
  return *params;
}

// Makes rows one by one, contiguous, in one dtype.
class RowMaker {
 public:
  RowMaker(const Call& call, int64_t tokens, Dtype dtype)
      : scheme_(SchemeFromScalars(call.SchemeName(), call.Scalars())),
        params_(SinusoidalOf(scheme_)),
        dtype_(dtype),
        angles_(AnglesOf(call, tokens, params_.Waves(), params_.start)),
        positions_(call.Input("positions", {Dtype::i64, Dtype::i32, Dtype::f64, Dtype::f32},
                              {static_cast<int64_t>(angles_.positions.size())})),
        halves_(2 * static_cast<size_t>(params_.Waves())) {
    // Turns keep 64 bits of a position's fraction, of which a frequency above 1 makes more.
    for (int64_t token = 0; params_.scale > 1 && token < this->tokens(); ++token) {
      const double units = positions_.Value(token) * 0x1p64;
      Require(std::trunc(units) == units,
              "a position must be a multiple of 2^-64 where scale is above 1, got {}",
              positions_.Value(token));
    }
  }

  int64_t tokens() const { return static_cast<int64_t>(angles_.positions.size()); }
  int64_t width() const { return params_.width; }

  // Writes width() elements.
  void Make(int64_t token, std::byte* row) {
    const auto size = SizeOf(dtype_);
    const TurnPosition& index = angles_.positions[static_cast<size_t>(token)];
    if (IsPadding(token)) {
      std::memset(row, 0, static_cast<size_t>(width()) * size);
      return;
    }
    const auto waves = static_cast<size_t>(params_.Waves());
    const auto others = static_cast<size_t>(params_.width / 2);  // cosines, or sines if flipped
    const bool interleaved = params_.layout == sinusoidal::Layout::interleaved;
    // Halves of one length are made where they belong.
    const bool in_place = !interleaved && waves == others;
    std::byte* const first = in_place ? row : halves_.data();
    std::byte* const second = first + waves * size;
    if (params_.layout == sinusoidal::Layout::flipped) {
      CosSinRow(angles_.turns, index, 1, dtype_, first, second);
    } else {
      CosSinRow(angles_.turns, index, 1, dtype_, second, first);
    }
    if (interleaved) {
      Interleave(dtype_, first, second, others, row);
      if (waves > others) std::memcpy(row + 2 * others * size, first + others * size, size);
      return;
    }
    if (!in_place) {
      std::memcpy(row, first, waves * size);
      std::memcpy(row + waves * size, second, others * size);
    }
    const size_t made = waves + others;
    std::memset(row + made * size, 0, (static_cast<size_t>(width()) - made) * size);
  }

 private:
  bool IsPadding(int64_t token) const {
    return params_.padding_index && positions_.Value(token) + static_cast<double>(params_.start) ==
                                        static_cast<double>(*params_.padding_index);
  }

  Scheme scheme_;
  const sinusoidal::Params& params_;
  Dtype dtype_;
  Angles angles_;
  Array positions_;
  RowBuffer halves_;
};

void Gather(const Array& from, int64_t token, std::byte* to) {
  const size_t size = SizeOf(from.dtype);
  for (int64_t i = 0; i < from.shape[1]; ++i, to += size) std::memcpy(to, from.At(token, i), size);
}

void Scatter(const std::byte* from, const Array& to, int64_t token) {
  const size_t size = SizeOf(to.dtype);
  for (int64_t i = 0; i < to.shape[1]; ++i, from += size) std::memcpy(to.At(token, i), from, size);
}

}  // namespace

void ComputeRows(const Call& call, Dtype dtype) {
  RowMaker rows(call, kAnyLength, dtype);
  const Array out = call.Output("rows", {dtype}, {rows.tokens(), rows.width()});
  const bool contiguous = out.stride[1] == 1;
  RowBuffer buffer(contiguous ? 0 : static_cast<size_t>(rows.width()));
  for (int64_t token = 0; token < rows.tokens(); ++token) {
    rows.Make(token, contiguous ? out.At(token) : buffer.data());
    if (!contiguous) Scatter(buffer.data(), out, token);
  }
}

void Embed(const Call& call, Dtype io) {
  RowMaker rows(call, kAnyLength, ComputeDtype(io));
  const int64_t tokens = rows.tokens(), width = rows.width();
  const Array x = call.Input("x", {io}, {tokens, width});
  const Array out = call.Output("out", {io}, {tokens, width});
  RequireApartOrSame(x, out);
  const bool x_contiguous = x.stride[1] == 1, out_contiguous = out.stride[1] == 1;
  RowBuffer row(static_cast<size_t>(width));
  RowBuffer gathered(x_contiguous ? 0 : static_cast<size_t>(width));
  RowBuffer sums(out_contiguous ? 0 : static_cast<size_t>(width));
  for (int64_t token = 0; token < tokens; ++token) {
    rows.Make(token, row.data());
    if (!x_contiguous) Gather(x, token, gathered.data());
    AddRow(io, x_contiguous ? x.At(token) : gathered.data(), row.data(), static_cast<size_t>(width),
           out_contiguous ? out.At(token) : sums.data());
    if (!out_contiguous) Scatter(sums.data(), out, token);
  }
}

}  // namespace posgauge::fast
