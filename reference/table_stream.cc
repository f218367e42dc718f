#include "posgauge/reference/table_stream.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

#include "posgauge/reference/decide_sum.h"
#include "posgauge/reference/direct_rotation.h"
#include "posgauge/reference/double_double_product.h"
#include "posgauge/reference/exact_rotation_state.h"
#include "posgauge/reference/parallel.h"
#include "posgauge/reference/settle.h"

namespace posgauge {

namespace {

// Rows that a thread computes before the consumer sees them: enough to outweigh starting a thread.
constexpr int64_t kTokensPerThread = 2048;

// One dtype of one block.
struct Buffer {
  Dtype dtype;
  std::vector<std::byte> cos, sin;
  std::atomic<int64_t> by_mpfr = 0, undecided = 0;
  std::atomic<int> max_bits = 0;
};

class Streamer {
 public:
  Streamer(const ExactRotation& rotation, std::span<const Dtype> dtypes, int64_t tokens)
      : state_(rotation.state()), pairs_(rotation.layout().Pairs()), buffers_(dtypes.size()) {
    for (size_t i = 0; i < dtypes.size(); ++i) {
      buffers_[i].dtype = dtypes[i];
      const size_t bytes = static_cast<size_t>(tokens * pairs_) * SizeOf(dtypes[i]);
      buffers_[i].cos.resize(bytes);
      buffers_[i].sin.resize(bytes);
    }
  }

  // Tokens [begin, end) of the block from position `first`, by rows.
  void ByRows(int64_t first, int64_t begin, int64_t end) {
    RowWalker walker(state_.rows);
    RotationRow scaled(pairs_);
    const int64_t stride = scaled.stride;
    std::vector<double> cos(static_cast<size_t>(stride)), sin(cos);
    std::vector<int64_t> open;
    const bool narrow = std::ranges::none_of(
        buffers_, [](const Buffer& buffer) { return buffer.dtype == Dtype::f64; });
    for (int64_t token = begin; token < end; ++token) {
      const int64_t position = first + token;
      if (position == 0) {
        OneByOne(token, position, [](int64_t) { return Pair{}; });
        continue;
      }
      std::array<const RotationRow*, 2> factors = walker.FactorsAt(position);
      const bool by_product = narrow && state_.pure && factors[1] != nullptr;
      const RotationRow* row = by_product ? nullptr : &walker.At(position);
      if (!state_.pure) {
        scaled = *row;
        Scale(state_.Factor(), &scaled);
        row = &scaled;
      }
      const double radius = state_.ScaledRadius(walker.radius());
      for (Buffer& buffer : buffers_) {
        const size_t size = SizeOf(buffer.dtype);
        std::byte* const cos_out = buffer.cos.data() + static_cast<size_t>(token * pairs_) * size;
        std::byte* const sin_out = buffer.sin.data() + static_cast<size_t>(token * pairs_) * size;
        const bool in_place = stride == pairs_;
        void* const cos_row = in_place ? static_cast<void*>(cos_out) : cos.data();
        void* const sin_row = in_place ? static_cast<void*>(sin_out) : sin.data();
        open.clear();
        if (by_product) {
          RoundProduct(*factors[0], *factors[1], buffer.dtype, cos_row, sin_row, &open);
        } else {
          RoundRow(*row, radius, state_.Exponent(), buffer.dtype, cos_row, sin_row, &open);
        }
        if (!in_place) {
          std::memcpy(cos_out, cos_row, static_cast<size_t>(pairs_) * size);
          std::memcpy(sin_out, sin_row, static_cast<size_t>(pairs_) * size);
        }
        for (int64_t index : open) {
          const bool is_sin = index >= stride;
          const int64_t pair = index - (is_sin ? stride : 0);
          if (pair >= pairs_) continue;
          if (state_.pure && state_.still[static_cast<size_t>(pair)]) {
            Store(buffer, token, pair, is_sin, is_sin ? 0 : 1);
          } else {
            Resolve(buffer, token, position, pair, is_sin);
          }
        }
      }
    }
  }

  // The same, entry by entry.
  void ByEntries(const DirectRotation& direct, int64_t first, int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; ++token) {
      const int64_t position = first + token;
      OneByOne(token, position, [&](int64_t pair) {
        auto values = direct.At(position, pair);
        double radius = DirectRotation::kRadius;
        if (!state_.pure) {
          for (DoubleDouble& value : values) value = Times(value, state_.Factor());
          radius = state_.ScaledRadius(radius + kTimesRadius);
        }
        return Pair{values, radius};
      });
    }
  }

  // Every entry by MPFR.
  void Slowly(int64_t first, int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; ++token) {
      OneByOne(token, first + token, [](int64_t) { return Pair{}; });
    }
  }

  TableBlock Block(int64_t first, int64_t tokens) const {
    TableBlock block{first, tokens, {}};
    for (const Buffer& buffer : buffers_) {
      const size_t bytes = static_cast<size_t>(tokens * pairs_) * SizeOf(buffer.dtype);
      block.values.push_back(
          {buffer.dtype, std::span(buffer.cos).first(bytes), std::span(buffer.sin).first(bytes)});
    }
    return block;
  }

  std::vector<StreamCounts> Counts(int64_t tokens) const {
    std::vector<StreamCounts> counts;
    for (const Buffer& buffer : buffers_) {
      counts.push_back({buffer.dtype, 2 * tokens * pairs_, buffer.by_mpfr, buffer.undecided,
                        std::max<int>(buffer.max_bits, kLowestBits)});
    }
    return counts;
  }

 private:
  // cos and sin known to a radius; zeros are known to none.
  struct Pair {
    std::array<DoubleDouble, 2> values = {};
    double radius = 0;
  };

  template <class Enclose>
  void OneByOne(int64_t token, int64_t position, const Enclose& enclose) {
    for (int64_t pair = 0; pair < pairs_; ++pair) {
      const bool still = position == 0 || state_.still[static_cast<size_t>(pair)];
      if (still && state_.pure) {  // exact
        for (Buffer& buffer : buffers_) {
          Store(buffer, token, pair, false, 1);
          Store(buffer, token, pair, true, 0);
        }
        continue;
      }
      const Pair known = enclose(pair);
      for (Buffer& buffer : buffers_) {
        const Format format = FormatOf(buffer.dtype);
        for (bool is_sin : {false, true}) {
          const auto decided = Decide(known.values[is_sin ? 1 : 0], known.radius, format, false);
          if (decided) {
            Store(buffer, token, pair, is_sin, decided->value);
          } else {
            Resolve(buffer, token, position, pair, is_sin);
          }
        }
      }
    }
  }

  void Store(Buffer& buffer, int64_t token, int64_t pair, bool is_sin, double value) const {
    const size_t size = SizeOf(buffer.dtype);
    const uint64_t encoded = Encode(buffer.dtype, value);
    std::byte* out = (is_sin ? buffer.sin : buffer.cos).data() +
                     static_cast<size_t>(token * pairs_ + pair) * size;
    switch (size) {
      case 8:
        std::memcpy(out, &encoded, 8);
        break;
      case 4: {
        const auto bits = static_cast<uint32_t>(encoded);
        std::memcpy(out, &bits, 4);
        break;
      }
      case 2: {
        const auto bits = static_cast<uint16_t>(encoded);
        std::memcpy(out, &bits, 2);
        break;
      }
      default:
        *out = static_cast<std::byte>(encoded);
    }
  }

  void Resolve(Buffer& buffer, int64_t token, int64_t position, int64_t pair, bool is_sin) {
    Collector one(buffer.dtype, 1);
    Settle<1>(state_.ladder, {&one}, {0}, [&]<class I>(const Rotation<I>& rotation) {
      auto turn = Turn(rotation, static_cast<size_t>(pair), I(position));
      return std::array<I, 1>{std::move(turn[is_sin ? 1 : 0])};
    });
    const RoundedValues settled = one.Take();
    Store(buffer, token, pair, is_sin, settled.values[0]);
    ++buffer.by_mpfr;
    buffer.undecided += settled.counts.undecided;
    int seen = buffer.max_bits.load();
    const int bits = settled.counts.max_bits;
    while (bits > seen && !buffer.max_bits.compare_exchange_weak(seen, bits)) {
    }
  }

  const ExactRotation::State& state_;
  int64_t pairs_;
  std::vector<Buffer> buffers_;
};

}  // namespace

std::vector<StreamCounts> StreamTable(const ExactRotation& rotation, int64_t first, int64_t end,
                                      std::span<const Dtype> dtypes, StreamPath path, int threads,
                                      const std::function<void(const TableBlock&)>& consume) {
  constexpr int64_t kEnd = int64_t{1} << 31;
  Require(0 <= first && first <= end && end <= kEnd,
          "positions must be a range within 0..{}, got {}..{}", kEnd, first, end);
  for (Dtype dtype : dtypes) {
    Require(IsFloat(dtype), "a table is rounded to a floating dtype, got {}", Name(dtype));
  }
  const ExactRotation::State& state = rotation.state();
  const int64_t at_once =
      kTokensPerThread *
      std::max<int64_t>(threads > 0 ? threads : std::thread::hardware_concurrency(), 1);
  std::optional<DirectRotation> direct;
  bool rows = false;
  if (state.Scalable() && first < end) {
    if (path == StreamPath::direct) {
      direct.emplace(state.ladder);
    } else {
      rows = state.rows.PrepareRange(first, end);
    }
  }
  Streamer streamer(rotation, dtypes, std::min(at_once, end - first));
  for (int64_t start = first; start < end; start += at_once) {
    const int64_t tokens = std::min(at_once, end - start);
    ForBlocks(
        tokens, 16,
        [&](int64_t from, int64_t to) {
          if (rows) return streamer.ByRows(start, from, to);
          if (direct) return streamer.ByEntries(*direct, start, from, to);
          streamer.Slowly(start, from, to);
        },
        threads);
    consume(streamer.Block(start, tokens));
  }
  return streamer.Counts(end - first);
}

}  // namespace posgauge
