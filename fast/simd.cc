#include "posgauge/fast/simd.h"

#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "posgauge/fast/simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

// clang-format off: the later ones use the first
#include "posgauge/fast/convert-inl.h"
#include "posgauge/fast/distance-inl.h"
#include "posgauge/fast/rotate-inl.h"
#include "posgauge/fast/rows-inl.h"
#include "posgauge/fast/scores-inl.h"
#include "posgauge/fast/table-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

bool HasFusedMultiplyAdd() { return HWY_NATIVE_FMA != 0; }

const char* TargetWord() { return hwy::TargetName(HWY_TARGET); }

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

#include "posgauge/schemes/base/error.h"

namespace posgauge::fast {

HWY_EXPORT(CosSinRow);
HWY_EXPORT(CosSinRowOfAxes);
HWY_EXPORT(SpreadRow);
HWY_EXPORT(RotateHeads);
HWY_EXPORT(Interleave);
HWY_EXPORT(AddRow);
HWY_EXPORT(AddStoredRow);
HWY_EXPORT(ScaleRowF32);
HWY_EXPORT(ScaleRowF64);
HWY_EXPORT(Log1pRow);
HWY_EXPORT(PowerRow);
HWY_EXPORT(CosineSums);
HWY_EXPORT(NetworkRowF32);
HWY_EXPORT(NetworkRowF64);
HWY_EXPORT(Store);
HWY_EXPORT(Load);
HWY_EXPORT(CopyBytes);
HWY_EXPORT(FlushStream);
HWY_EXPORT(ScoreRow);
HWY_EXPORT(DotRowsF32);
HWY_EXPORT(DotRowsF64);
HWY_EXPORT(DotPairsF32);
HWY_EXPORT(DotPairsF64);
HWY_EXPORT(FactoredPairDotsF32);
HWY_EXPORT(FactoredPairDotsF64);
HWY_EXPORT(SigmoidsF32);
HWY_EXPORT(SigmoidsF64);
HWY_EXPORT(ExponentialsF32);
HWY_EXPORT(ExponentialsF64);
HWY_EXPORT(WeightedSum);
HWY_EXPORT(Narrow);
HWY_EXPORT(Widen);
HWY_EXPORT(HasFusedMultiplyAdd);
HWY_EXPORT(TargetWord);

void CosSinRow(const Turns& turns, const PairPositions& positions, double magnitude, Dtype dtype,
               void* cos, void* sin) {
  HWY_DYNAMIC_DISPATCH(CosSinRowOfAxes)(turns, positions, magnitude, dtype, cos, sin);
}

void CosSinRow(const Turns& turns, const TurnPosition& position, double magnitude, Dtype dtype,
               void* cos, void* sin) {
  HWY_DYNAMIC_DISPATCH(CosSinRow)(turns, position, magnitude, dtype, cos, sin);
}

void SpreadRow(const TableRow& row, int64_t pairs, Pairing pairing, bool backward, Dtype io,
               void* cos, void* sin) {
  HWY_DYNAMIC_DISPATCH(SpreadRow)(row, pairs, pairing, backward, io, cos, sin);
}

void RotateHeads(Dtype io, Pairing pairing, int64_t pairs, int64_t heads,
                 const Heads<const void>& x, const Heads<void>& out, const void* cos,
                 const void* sin) {
  HWY_DYNAMIC_DISPATCH(RotateHeads)(io, pairing, pairs, heads, x, out, cos, sin);
}

void Interleave(Dtype dtype, const void* first, const void* second, size_t count, void* out) {
  HWY_DYNAMIC_DISPATCH(Interleave)(dtype, first, second, count, out);
}

void AddStoredRow(Dtype io, const void* x, const void* row, size_t width, void* out) {
  HWY_DYNAMIC_DISPATCH(AddStoredRow)(io, x, row, width, out);
}

void AddRow(Dtype io, const void* x, const void* row, size_t width, void* out) {
  HWY_DYNAMIC_DISPATCH(AddRow)(io, x, row, width, out);
}

void ScaleRow(const double* x, float factor, bool absolute, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(ScaleRowF32)(x, factor, absolute, count, out);
}

void ScaleRow(const double* x, double factor, bool absolute, size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(ScaleRowF64)(x, factor, absolute, count, out);
}

void Log1pRow(const double* x, double rate, size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(Log1pRow)(x, rate, count, out);
}

void PowerRow(const double* x, double exponent, size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(PowerRow)(x, exponent, count, out);
}

void CosineSums(const double* cos, const double* sin, const double* step_cos,
                const double* step_sin, size_t waves, double* sums) {
  HWY_DYNAMIC_DISPATCH(CosineSums)(cos, sin, step_cos, step_sin, waves, sums);
}

void NetworkRow(const double* x, size_t count, const Network& network, float* out) {
  HWY_DYNAMIC_DISPATCH(NetworkRowF32)(x, count, network, out);
}

void NetworkRow(const double* x, size_t count, const Network& network, double* out) {
  HWY_DYNAMIC_DISPATCH(NetworkRowF64)(x, count, network, out);
}

void Store(Dtype io, const void* from, size_t count, void* to) {
  HWY_DYNAMIC_DISPATCH(Store)(io, from, count, to);
}

void Load(Dtype io, const void* from, size_t count, void* to) {
  HWY_DYNAMIC_DISPATCH(Load)(io, from, count, to);
}

void CopyBytes(const void* from, size_t count, bool stream, void* to) {
  HWY_DYNAMIC_DISPATCH(CopyBytes)(from, count, stream, to);
}

void FlushStream() { HWY_DYNAMIC_DISPATCH(FlushStream)(); }

void ScoreRow(Dtype io, const void* q, const void* k, int64_t key_stride, size_t channels,
              size_t keys, double scale, const void* factors, const void* bias, void* out) {
  HWY_DYNAMIC_DISPATCH(ScoreRow)(io, q, k, key_stride, channels, keys, scale, factors, bias, out);
}

void DotRows(const float* x, const float* const* rows, size_t channels, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(DotRowsF32)(x, rows, channels, count, out);
}

void DotRows(const double* x, const double* const* rows, size_t channels, size_t count,
             double* out) {
  HWY_DYNAMIC_DISPATCH(DotRowsF64)(x, rows, channels, count, out);
}

void DotPairs(const float* const* x, const float* const* y, size_t channels, size_t count,
              float* out) {
  HWY_DYNAMIC_DISPATCH(DotPairsF32)(x, y, channels, count, out);
}

void DotPairs(const double* const* x, const double* const* y, size_t channels, size_t count,
              double* out) {
  HWY_DYNAMIC_DISPATCH(DotPairsF64)(x, y, channels, count, out);
}

void FactoredPairDots(const float* x, const float* const* rows, const float* const* factors,
                      size_t pairs, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(FactoredPairDotsF32)(x, rows, factors, pairs, count, out);
}

void FactoredPairDots(const double* x, const double* const* rows, const double* const* factors,
                      size_t pairs, size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(FactoredPairDotsF64)(x, rows, factors, pairs, count, out);
}

void Sigmoids(float* x, size_t count) { HWY_DYNAMIC_DISPATCH(SigmoidsF32)(x, count); }

void Sigmoids(double* x, size_t count) { HWY_DYNAMIC_DISPATCH(SigmoidsF64)(x, count); }

float Exponentials(float* scores, size_t count, float highest) {
  return HWY_DYNAMIC_DISPATCH(ExponentialsF32)(scores, count, highest);
}

double Exponentials(double* scores, size_t count, double highest) {
  return HWY_DYNAMIC_DISPATCH(ExponentialsF64)(scores, count, highest);
}

void WeightedSum(Dtype io, const void* const* rows, const void* const* added, const void* weights,
                 size_t count, size_t channels, void* out) {
  HWY_DYNAMIC_DISPATCH(WeightedSum)(io, rows, added, weights, count, channels, out);
}

void Narrow(Dtype dtype, const float* from, uint16_t* to, size_t count) {
  HWY_DYNAMIC_DISPATCH(Narrow)(dtype, from, to, count);
}

void Widen(Dtype dtype, const uint16_t* from, float* to, size_t count) {
  HWY_DYNAMIC_DISPATCH(Widen)(dtype, from, to, count);
}

std::string CurrentTarget() { return HWY_DYNAMIC_DISPATCH(TargetWord)(); }

bool HasFusedMultiplyAdd() { return HWY_DYNAMIC_DISPATCH(HasFusedMultiplyAdd)(); }

std::vector<std::string> Targets() {
  hwy::SetSupportedTargetsForTest(0);
  std::vector<std::string> names;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

void UseTarget(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  int64_t chosen = 0;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name == hwy::TargetName(target)) chosen = target;
  }
  Require(name.empty() || chosen != 0, "target must be one of {}, got '{}'",
          fmt::join(Targets(), ", "), name);
  hwy::SetSupportedTargetsForTest(chosen);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace posgauge::fast

#endif  // HWY_ONCE
