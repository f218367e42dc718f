#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/fast/turns.h"
#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/rotary.h"

/// What is vectorised, behind run-time dispatch to the best instruction set of the machine. Callers
/// have checked their arguments. The results do not depend on where a value stands among its
/// neighbours, on alignment, or on the number of lanes: every step is one IEEE operation per value,
/// in round-to-nearest without flushing, and only whether multiply-adds are fused differs between
/// targets. Sums over channels or keys are the exception: see ScoreRow.
namespace posgauge::fast {

/// The dtypes of x and of tables.
inline constexpr std::array kDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};

/// One row of a table: magnitude cos(p w) and magnitude sin(p w), contiguous, [pairs] of one of
/// kDtypes. |magnitude| <= 2^60. Error: see table-inl.h.
void CosSinRow(const Turns& turns, const TurnPosition& position, double magnitude, Dtype dtype,
               void* cos, void* sin);

/// The same with a position of its own for every pair; equal ones give the same bits.
void CosSinRow(const Turns& turns, const PairPositions& positions, double magnitude, Dtype dtype,
               void* cos, void* sin);

/// A row of a table that somebody else made. Strides in elements.
struct TableRow {
  Dtype dtype;
  const void *cos, *sin;
  int64_t cos_stride, sin_stride;
};

/// Dtype that a rotation of `io` computes in: f64 for f64, otherwise f32.
constexpr Dtype ComputeDtype(Dtype io) { return io == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

/// Whether RotateHeads takes rows as tables hold them, cos and sin [pairs] in ComputeDtype(io).
constexpr bool TakesPlainRows(Dtype io, Pairing pairing) {
  return io != Dtype::bf16 && pairing == Pairing::half;
}

/// Brings a row into the form that RotateHeads takes, exactly, in ComputeDtype(io); the row's dtype
/// is not wider. Room for 2 pairs entries each. `backward` negates the sines. bf16 half: entries of
/// even pairs, then those of odd ones; bf16 interleaved: as they are; otherwise half: as they are,
/// and interleaved: every cosine twice, and every sine negated and as it is. NaNs for bf16 lose
/// their payloads.
void SpreadRow(const TableRow& row, int64_t pairs, Pairing pairing, bool backward, Dtype io,
               void* cos, void* sin);

/// The heads of one token, from their first channel that rotates on. Strides in elements.
template <class Void>
struct Heads {
  Void* data;
  int64_t head_stride, channel_stride;
};

/// Rotates `heads` heads of one token by a row from SpreadRow. `out` may be the memory of `x` if
/// the strides agree. Error: see rotate-inl.h.
void RotateHeads(Dtype io, Pairing pairing, int64_t pairs, int64_t heads,
                 const Heads<const void>& x, const Heads<void>& out, const void* cos,
                 const void* sin);

/// first[0], second[0], first[1], ...: `count` elements of a floating dtype of each, bit for bit.
void Interleave(Dtype dtype, const void* first, const void* second, size_t count, void* out);

/// out = x + row, [width]; x and out of dtype io, the row of ComputeDtype(io). `out` may be the
/// memory of `x`. Error: see rows-inl.h.
void AddRow(Dtype io, const void* x, const void* row, size_t width, void* out);

/// The same with a row of dtype io.
void AddStoredRow(Dtype io, const void* x, const void* row, size_t width, void* out);

/// Largest output in bytes that is stored through the caches.
inline constexpr double kLargestCached = 0x1p23;

/// out = factor x, or factor |x|, [count]; x is rounded to the type of out first.
void ScaleRow(const double* x, float factor, bool absolute, size_t count, float* out);
void ScaleRow(const double* x, double factor, bool absolute, size_t count, double* out);

/// out = ln(1 + rate |x|), and out = |x|^exponent, 0 at 0, [count]: |x| < 2^33, 0 < exponent <= 2.
/// Error: see distance-inl.h.
void Log1pRow(const double* x, double rate, size_t count, double* out);
void PowerRow(const double* x, double exponent, size_t count, double* out);

/// Distances of a block of sums of cosines.
inline constexpr size_t kCosineSteps = 64;

/// sums[b] = sum over k of cos[k] step_cos[k][b] - sin[k] step_sin[k][b], [kCosineSteps], in the
/// order of k < waves. Error: see distance-inl.h.
void CosineSums(const double* cos, const double* sin, const double* step_cos,
                const double* step_sin, size_t waves, double* sums);

/// A hidden layer of `units`, and one unit above it.
struct Network {
  const double *w1, *b1, *w2;  // [units]
  double b2;
  size_t units;
};

/// out = w2 . relu(w1 x + b1) + b2, [count], in double and rounded to the type of out. Error: see
/// distance-inl.h.
void NetworkRow(const double* x, size_t count, const Network& network, float* out);
void NetworkRow(const double* x, size_t count, const Network& network, double* out);

/// `count` numbers of ComputeDtype(io), rounded to io.
void Store(Dtype io, const void* from, size_t count, void* to);

/// `count` numbers of io in ComputeDtype(io), exactly.
void Load(Dtype io, const void* from, size_t count, void* to);

/// Copies; `stream` goes past the caches, and FlushStream must follow the last of them.
void CopyBytes(const void* from, size_t count, bool stream, void* to);
void FlushStream();

/// out[j] = scale <q, k_j> factors[j] + bias[j], [keys], or without factors where they are null: k
/// of dtype io, its channels contiguous, keys key_stride elements apart; q, factors, bias and out
/// of ComputeDtype(io). Error: see scores-inl.h. Sums depend on the number of lanes.
void ScoreRow(Dtype io, const void* q, const void* k, int64_t key_stride, size_t channels,
              size_t keys, double scale, const void* factors, const void* bias, void* out);

/// out[i] = <x, rows[i]>, [count], of `channels` products each.
void DotRows(const float* x, const float* const* rows, size_t channels, size_t count, float* out);
void DotRows(const double* x, const double* const* rows, size_t channels, size_t count,
             double* out);

/// out[i] = <x[i], y[i]>, [count], of `channels` products each.
void DotPairs(const float* const* x, const float* const* y, size_t channels, size_t count,
              float* out);
void DotPairs(const double* const* x, const double* const* y, size_t channels, size_t count,
              double* out);

/// out[j] = sum over i < pairs of factors[j][i] (x[i] rows[j][i] + x[pairs + i] rows[j][pairs +
/// i]), [count]. Error: see scores-inl.h.
void FactoredPairDots(const float* x, const float* const* rows, const float* const* factors,
                      size_t pairs, size_t count, float* out);
void FactoredPairDots(const double* x, const double* const* rows, const double* const* factors,
                      size_t pairs, size_t count, double* out);

/// Replaces x by 1 / (1 + e^-x).
void Sigmoids(float* x, size_t count);
void Sigmoids(double* x, size_t count);

/// Replaces scores by e^(score - highest) and returns their sum.
float Exponentials(float* scores, size_t count, float highest);
double Exponentials(double* scores, size_t count, double highest);

/// out = sum of weights[i] (rows[i] + added[i]), [channels], in that order: rows of dtype io;
/// added, weights and out of ComputeDtype(io). Nothing is added where `added` is null.
void WeightedSum(Dtype io, const void* const* rows, const void* const* added, const void* weights,
                 size_t count, size_t channels, void* out);

/// Conversions as the kernels store and load them, for tests: f32 to a 16-bit dtype, nearest even,
/// and back.
void Narrow(Dtype dtype, const float* from, uint16_t* to, size_t count);
void Widen(Dtype dtype, const uint16_t* from, float* to, size_t count);

/// Instruction sets that this machine can run, best first: "AVX3", "AVX2", ...
std::vector<std::string> Targets();

/// The one in use.
std::string CurrentTarget();

/// Whether its multiply-adds are fused.
bool HasFusedMultiplyAdd();

/// Uses one target only, or the best again for an empty name. For tests: not while kernels run.
/// Throws ParameterError on an unknown name.
void UseTarget(std::string_view name);

}  // namespace posgauge::fast
