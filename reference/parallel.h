#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace posgauge {

/// Calls work(begin, end) on disjoint blocks that cover [0, count), on `most_threads` threads (0:
/// as many as the machine has), fewer where blocks would become smaller than smallest_block. The
/// first exception is rethrown. Work writes results by index, so they do not depend on the number
/// of threads.
template <class Work>
void ForBlocks(int64_t count, int64_t smallest_block, Work work, int most_threads = 0) {
  const int64_t available =
      most_threads > 0 ? most_threads : std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  const int64_t threads =
      std::clamp<int64_t>(count / std::max<int64_t>(smallest_block, 1), 1, available);
  if (threads == 1) {
    if (count > 0) work(int64_t{0}, count);
    return;
  }
  std::vector<std::exception_ptr> failures(static_cast<size_t>(threads));
  {
    std::vector<std::jthread> pool;
    for (int64_t t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        try {
          work(count * t / threads, count * (t + 1) / threads);
        } catch (...) {
          failures[static_cast<size_t>(t)] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace posgauge
