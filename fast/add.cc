#include "posgauge/fast/add.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "posgauge/fast/all.h"
#include "posgauge/fast/angles.h"
#include "posgauge/fast/rows.h"
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

// Makes rows of waves one by one, contiguous, in one dtype.
class WaveRows {
 public:
  WaveRows(const Call& call, int64_t tokens, Dtype dtype)
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

// Every scheme that adds rows, by what fast/rows.h asks of it.
struct TokenRows {
  int64_t tokens = 0, width = 0;
  RowMaker at;
  std::vector<double> positions;
};

// Of waves, made in `made` from the frequencies of the call.
void MakeRows(const sinusoidal::Params&, const Call& call, Dtype, Dtype made, TokenRows& rows) {
  const auto waves = std::make_shared<WaveRows>(call, kAnyLength, made);
  const auto buffer = std::make_shared<RowBuffer>(static_cast<size_t>(waves->width()));
  rows.tokens = waves->tokens();
  rows.at = [waves, buffer, made](int64_t token) -> Row {
    waves->Make(token, buffer->data());
    return {{{buffer->data(), made, static_cast<size_t>(waves->width())}, {}}};
  };
}

template <class Params>
requires requires(const Params& params, const Call& call) {
  FastRows(params, call, std::vector<double>(), Dtype{}, Dtype{});
}
void MakeRows(const Params& params, const Call& call, Dtype io, Dtype made, TokenRows& rows) {
  const Array positions =
      call.Input("positions", {Dtype::i64, Dtype::i32, Dtype::f64, Dtype::f32}, {kAnyLength});
  rows.tokens = positions.shape[0];
  for (int64_t token = 0; token < rows.tokens; ++token) {
    rows.positions.push_back(positions.Value(token));
  }
  params.CheckPositions(rows.positions);
  rows.at = FastRows(params, call, rows.positions, io, made);
}

// `rows` is where positions stay that its maker refers to.
void MakeRows(const Call& call, Dtype io, Dtype made, TokenRows& rows) {
  const Scheme scheme = SchemeFromScalars(call.SchemeName(), call.Scalars(), call.Lists());
  rows.width = WidthOf(scheme);
  std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (requires { MakeRows(params, call, io, made, rows); }) {
          MakeRows(params, call, io, made, rows);
        } else {
          throw ParameterError(fmt::format("{} has no kernel of rows", Params::kName));
        }
      },
      scheme);
}

}  // namespace

void ComputeRows(const Call& call, Dtype dtype) {
  TokenRows rows;
  MakeRows(call, dtype, dtype, rows);
  const Array out = call.Output("rows", {dtype}, {rows.tokens, rows.width});
  const bool contiguous = out.stride[1] == 1;
  const size_t size = SizeOf(dtype);
  RowBuffer buffer(contiguous ? 0 : static_cast<size_t>(rows.width));
  // Beyond what caches keep, stores go past them.
  const bool stream = contiguous && static_cast<double>(rows.tokens) *
                                            static_cast<double>(rows.width) *
                                            static_cast<double>(size) >
                                        kLargestCached;
  for (int64_t token = 0; token < rows.tokens; ++token) {
    std::byte* to = contiguous ? out.At(token) : buffer.data();
    for (const RowPiece& piece : rows.at(token)) {
      if (piece.channels == 0) continue;
      if (piece.data == nullptr) {
        std::memset(to, 0, piece.channels * size);
      } else if (piece.dtype == dtype) {
        CopyBytes(piece.data, piece.channels * size, stream, to);
      } else {
        Store(dtype, piece.data, piece.channels, to);
      }
      to += piece.channels * size;
    }
    if (!contiguous) Scatter(buffer.data(), out, token);
  }
  if (stream) FlushStream();
}

void Embed(const Call& call, Dtype io) {
  TokenRows rows;
  MakeRows(call, io, ComputeDtype(io), rows);
  const Array x = call.Input("x", {io}, {rows.tokens, rows.width});
  const Array out = call.Output("out", {io}, {rows.tokens, rows.width});
  RequireApartOrSame(x, out);
  const size_t size = SizeOf(io);
  const bool x_contiguous = x.stride[1] == 1, out_contiguous = out.stride[1] == 1;
  RowBuffer gathered(x_contiguous ? 0 : static_cast<size_t>(rows.width));
  RowBuffer sums(out_contiguous ? 0 : static_cast<size_t>(rows.width));
  for (int64_t token = 0; token < rows.tokens; ++token) {
    if (!x_contiguous) Gather(x, token, gathered.data());
    const std::byte* from = x_contiguous ? x.At(token) : gathered.data();
    std::byte* to = out_contiguous ? out.At(token) : sums.data();
    for (const RowPiece& piece : rows.at(token)) {
      if (piece.channels == 0) continue;
      if (piece.data == nullptr) {
        std::memmove(to, from, piece.channels * size);
      } else if (piece.dtype == io) {
        AddStoredRow(io, from, piece.data, piece.channels, to);
      } else {
        AddRow(io, from, piece.data, piece.channels, to);
      }
      from += piece.channels * size;
      to += piece.channels * size;
    }
    if (!out_contiguous) Scatter(sums.data(), out, token);
  }
}

}  // namespace posgauge::fast
