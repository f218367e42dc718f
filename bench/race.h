#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "posgauge/fast/kernels.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/base/scalars.h"

namespace posgauge::bench {

/// Turns that every contender gets; odd, so that the median is one of them.
inline constexpr int kTurns = 51;

using Contender = std::pair<std::string, std::function<void()>>;

/// Runs the kernel and its contenders by turns, so that whatever else the machine does falls on all
/// of them, and reports the ratios of the medians: vs_memcpy 0.9 means nine tenths of memcpy's
/// speed. Each turn repeats the call `repeats` times, to stand clear of the clock.
inline void Race(benchmark::State& state, const std::function<void()>& kernel,
                 const std::vector<Contender>& contenders, int repeats, double bytes) {
  const auto seconds = [&](const std::function<void()>& run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) run();
    benchmark::ClobberMemory();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           repeats;
  };
  std::vector<double> own;
  std::vector<std::vector<double>> others(contenders.size());
  for (auto _ : state) {
    own.push_back(seconds(kernel));
    for (size_t i = 0; i < contenders.size(); ++i) {
      others[i].push_back(seconds(contenders[i].second));
    }
    state.SetIterationTime(own.back());
  }
  const auto median = [](std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  const double time = median(own);
  state.counters["GB/s"] = bytes / time / 1e9;
  for (size_t i = 0; i < contenders.size(); ++i) {
    state.counters["vs_" + contenders[i].first] = median(others[i]) / time;
  }
  state.SetLabel(fast::CurrentTarget());
}

/// A compact tensor over somebody's memory.
class View {
 public:
  View(const char* name, Dtype dtype, void* data, std::vector<int64_t> shape)
      : name_(name), dtype_(dtype), data_(data), shape_(std::move(shape)) {}
  posgauge_tensor Argument() {
    return {.size = sizeof(posgauge_tensor),
            .dtype = static_cast<int32_t>(dtype_),
            .name = name_,
            .tensor = {.data = data_,
                       .device = {kDLCPU, 0},
                       .ndim = static_cast<int>(shape_.size()),
                       .dtype = {},
                       .shape = shape_.data(),
                       .strides = nullptr,
                       .byte_offset = 0}};
  }

 private:
  const char* name_;
  Dtype dtype_;
  void* data_;
  std::vector<int64_t> shape_;
};

/// A kernel with everything that one call takes, through the C interface as the gate calls it.
class BoundKernel {
 public:
  BoundKernel(const std::string& name, int64_t rotary_dim, std::vector<View> inputs,
              std::vector<View> outputs)
      : BoundKernel(name, "rope",
                    {{"head_dim", static_cast<double>(rotary_dim)},
                     {"rotary_dim", static_cast<double>(rotary_dim)},
                     {"rotary_offset", 0.0},
                     {"pairing", 0.0}},
                    std::move(inputs), std::move(outputs)) {}

  BoundKernel(const std::string& name, std::string scheme, std::vector<Scalar> scalars,
              std::vector<View> inputs, std::vector<View> outputs)
      : scheme_(std::move(scheme)),
        named_(std::move(scalars)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {
    size_t count = 0;
    const posgauge_kernel* kernels = FastKernels(&count);
    const auto* found = std::find_if(kernels, kernels + count,
                                     [&](const posgauge_kernel& k) { return name == k.name; });
    if (found == kernels + count) throw std::runtime_error("no kernel " + name);
    kernel_ = found;
    for (const auto& [scalar, value] : named_) scalars_.push_back({scalar.c_str(), value});
    for (View& view : inputs_) in_.push_back(view.Argument());
    for (View& view : outputs_) out_.push_back(view.Argument());
  }
  BoundKernel(const BoundKernel&) = delete;
  BoundKernel& operator=(const BoundKernel&) = delete;

  void SetPairing(Pairing pairing) { scalars_.back().value = static_cast<double>(pairing); }

  void operator()() const {
    const posgauge_call call = {.size = sizeof(posgauge_call),
                                .num_scalars = static_cast<uint32_t>(scalars_.size()),
                                .scheme = scheme_.c_str(),
                                .quantity = kernel_->quantity,
                                .scalars = scalars_.data(),
                                .inputs = in_.data(),
                                .outputs = out_.data(),
                                .num_inputs = static_cast<uint32_t>(in_.size()),
                                .num_outputs = static_cast<uint32_t>(out_.size())};
    char why[256];
    if (kernel_->run(&call, why, sizeof why) != POSGAUGE_OK) throw std::runtime_error(why);
  }

 private:
  const posgauge_kernel* kernel_;
  std::string scheme_;
  std::vector<Scalar> named_;
  std::vector<View> inputs_, outputs_;
  std::vector<posgauge_scalar> scalars_;
  std::vector<posgauge_tensor> in_, out_;
};

}  // namespace posgauge::bench
