#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/random.h"

namespace posgauge {

/// Schemes and parameters that the identifier's tests draw, as published models have them or any.
class SchemeDraw {
 public:
  explicit SchemeDraw(Random random) : random_(random) {}

  uint64_t Below(uint64_t count) { return random_.Below(count); }
  double Between(double low, double high) {
    return low * std::exp(random_.Uniform() * std::log(high / low));
  }
  template <class Value>
  Value OneOf(std::initializer_list<Value> values) {
    return *std::next(values.begin(), static_cast<ptrdiff_t>(Below(values.size())));
  }
  /// One of the usual values, or any between.
  double Usual(std::initializer_list<double> values, double low, double high) {
    return Below(2) == 0 ? OneOf(values) : Between(low, high);
  }

  Rotary AnyRotary() {
    Rotary rotary;
    rotary.rotary_dim = 2 * static_cast<int64_t>(4 + Below(29));
    rotary.head_dim = rotary.rotary_dim + OneOf<int64_t>({0, 0, 8, 32});
    if (rotary.head_dim > rotary.rotary_dim) {
      rotary.rotary_offset = OneOf<int64_t>({0, 4, rotary.head_dim - rotary.rotary_dim});
    }
    rotary.pairing = OneOf({Pairing::half, Pairing::interleaved});
    rotary.direction =
        OneOf({Direction::counterclockwise, Direction::counterclockwise, Direction::clockwise});
    rotary.base = Usual({10000, 500000, 1e6}, 100, 2e6);
    return rotary;
  }

  Scheme AnyNtk(const Rotary& rotary) {
    ntk::Params params{.rotary = rotary, .factor = Usual({2, 4, 8}, 1, 64)};
    params.form = OneOf({ntk::Form::aware, ntk::Form::naive, ntk::Form::dynamic, ntk::Form::qwen,
                         ntk::Form::fixed, ntk::Form::mixed});
    if (params.form == ntk::Form::qwen) params.factor = 1;
    if (params.DependsOnLength()) {
      params.trained_length = 2048;
      params.length = static_cast<int64_t>(Between(1000, 100000));
    }
    if (params.form == ntk::Form::mixed) params.mixed_exponent = OneOf({0.0, 0.5, 0.625, 1.0, 1.5});
    return params;
  }

  Scheme AnyYarn(const Rotary& rotary) {
    yarn::Params params{.rotary = rotary, .factor = Usual({4, 16, 32}, 1.5, 64)};
    params.original_length = OneOf<int64_t>({2048, 4096, 8192, 32768});
    if (Below(3) == 0) {
      params.beta_slow = Between(0.5, 4);
      params.beta_fast = params.beta_slow * Between(4, 40);
    }
    params.truncate = Below(3) != 0;
    if (Below(4) == 0) params.ramp = yarn::RampOver::turns;
    if (Below(6) == 0) params.extrapolation_factor = 0.5;
    params.magnitude =
        OneOf({yarn::Magnitude::huggingface, yarn::Magnitude::none, yarn::Magnitude::telechat3});
    if (Below(6) == 0) params.attention_factor = Between(0.8, 1.5);
    params.inverted_ramp = yarn::InvertedRamp::huggingface;
    return params;
  }

  Scheme AnyLlama3(const Rotary& rotary) {
    llama3::Params params{.rotary = rotary, .factor = Usual({8, 32}, 1.5, 64)};
    params.original_length = OneOf<int64_t>({2048, 4096, 8192});
    if (Below(2) == 0) {
      params.low_frequency_factor = Between(0.5, 2);
      params.high_frequency_factor = params.low_frequency_factor * Between(1.5, 20);
    }
    return params;
  }

  Scheme AnyLongrope(const Rotary& rotary) {
    longrope::Params params{.rotary = rotary, .length = OneOf<int64_t>({4096, 8192})};
    std::vector<double> factors;
    double factor = 1;
    for (int64_t i = 0; i < rotary.Pairs(); ++i) {
      factors.push_back(std::round(factor * 100) / 100);
      factor *= Between(1, 1.2);
    }
    (*params.length > params.original_length ? params.long_factor : params.short_factor) = factors;
    params.factor = OneOf({1.0, 32.0, 4.0});
    return params;
  }

  /// Of every rotary schedule in turn.
  Scheme Rotation(uint64_t which) {
    const Rotary rotary = AnyRotary();
    switch (which % 7) {
      case 0:
        return rope::Params{.rotary = rotary};
      case 1:
        return linear::Params{.rotary = rotary, .factor = Usual({2, 4, 0.5}, 0.6, 64)};
      case 2:
        return AnyNtk(rotary);
      case 3:
        return AnyYarn(rotary);
      case 4:
        return AnyLlama3(rotary);
      case 5:
        return AnyLongrope(rotary);
      default:
        return proportional::Params{.rotary = rotary,
                                    .proportion = OneOf({0.25, 0.5, 0.75, 1.0}),
                                    .factor = OneOf({1.0, 8.0})};
    }
  }

  Scheme Waves() {
    sinusoidal::Params params{.width = static_cast<int64_t>(8 + Below(57))};
    const bool odd = params.width % 2 == 1;
    params.layout = OneOf(
        {sinusoidal::Layout::interleaved, sinusoidal::Layout::halves, sinusoidal::Layout::flipped});
    if (Below(2) == 0) params.frequency_shift = OneOf<int64_t>({0, 1});
    if (odd) {
      params.odd_width =
          params.frequency_shift ? sinusoidal::OddWidth::zero : sinusoidal::OddWidth::extra_sine;
      if (params.frequency_shift || params.layout == sinusoidal::Layout::flipped) {
        params.layout = sinusoidal::Layout::halves;
      }
    }
    params.base = Usual({10000}, 1000, 1e5);
    params.scale = OneOf({1.0, 1.0, 0.5});
    params.start = OneOf<int64_t>({0, 0, 1, 2});
    return params;
  }

  Scheme Slopes() {
    alibi::Params params{.max_bias = OneOf({8.0, 8.0, 4.0, 16.0})};
    params.attention.heads = static_cast<int64_t>(1 + Below(24));
    params.attention.causal = false;
    params.form = OneOf({alibi::Form::relative, alibi::Form::symmetric, alibi::Form::key,
                         alibi::Form::key_from_last});
    params.first_head = static_cast<int64_t>(Below(3));
    if (params.first_head > 0) {
      params.total_heads =
          params.first_head + params.attention.heads + static_cast<int64_t>(Below(4));
    }
    return params;
  }

  Scheme Buckets() {
    t5::Params params{.num_buckets = OneOf<int64_t>({32, 16, 64, 8, 33, 320}),
                      .bidirectional = Below(2) == 0};
    params.attention.heads = static_cast<int64_t>(1 + Below(4));
    params.max_distance =
        params.ExactBuckets() + static_cast<int64_t>(Usual({128, 256, 64}, 1, 2000));
    return params;
  }

 private:
  Random random_;
};

}  // namespace posgauge
