// Added rows. Included by simd.cc once a target, hence no guard.
//
// Contract  of AddRow, on a row within 2^-25 + 2^-52 (f32) or 2^-52 (f64) of the truth
// (table-inl.h):
//           rotate=f64 store=f64 for f64; otherwise rotate=f32, then one rounding to the dtype,
//           nearest even, subnormals kept.
//
//           AddStoredRow is the same, its row being one of the dtype and exact.
//
// Bound     |row error| + u |x + row| (u = 2^-53 for f64, 2^-24 otherwise), and for the 16-bit
// dtypes
//           their own half ulp. x enters exactly: f32 holds bf16 and f16.

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

// first 0, second 0, first 1, ...: bits are moved, nothing is rounded.
template <class T>
void InterleaveAll(const T* first, const T* second, size_t count, T* out) {
  ForEachVector(hn::ScalableTag<T>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreInterleaved2(hn::LoadU(d, first + i), hn::LoadU(d, second + i), d, out + 2 * i);
  });
}

void Interleave(Dtype dtype, const void* first, const void* second, size_t count, void* out) {
  const auto run = [&]<class T>(T*) HWY_ATTR {
    InterleaveAll(static_cast<const T*>(first), static_cast<const T*>(second), count,
                  static_cast<T*>(out));
  };
  switch (SizeOf(dtype)) {
    case 8:
      return run(static_cast<uint64_t*>(nullptr));
    case 4:
      return run(static_cast<uint32_t*>(nullptr));
    default:
      return run(static_cast<uint16_t*>(nullptr));
  }
}

void AddRow(Dtype io, const void* x, const void* row, size_t width, void* out) {
  WithElement(io, [&]<class T>(T*) HWY_ATTR {
    using Compute = typename ComputeOf<T>::Type;
    const auto* from = static_cast<const T*>(x);
    const auto* added = static_cast<const Compute*>(row);
    auto* to = static_cast<T*>(out);
    ForEachVector(hn::ScalableTag<Compute>(), 0, width, [&](auto d, size_t i) HWY_ATTR {
      StoreAs(d, hn::Add(LoadAs(d, from + i), hn::LoadU(d, added + i)), to + i);
    });
  });
}

void AddStoredRow(Dtype io, const void* x, const void* row, size_t width, void* out) {
  WithElement(io, [&]<class T>(T*) HWY_ATTR {
    using Compute = typename ComputeOf<T>::Type;
    const auto* from = static_cast<const T*>(x);
    const auto* added = static_cast<const T*>(row);
    auto* to = static_cast<T*>(out);
    ForEachVector(hn::ScalableTag<Compute>(), 0, width, [&](auto d, size_t i) HWY_ATTR {
      StoreAs(d, hn::Add(LoadAs(d, from + i), LoadAs(d, added + i)), to + i);
    });
  });
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
