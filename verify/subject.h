#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/bound.h"
#include "posgauge/verify/kernel.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// A tensor that a kernel takes or yields, as its descriptor says: "positions:i64,i32,f32".
struct TensorSpec {
  std::string name;
  std::vector<Dtype> dtypes;  // the preferred first
};

/// A kernel's descriptor, read and checked. Throws FormatError that names the library's mistake.
struct KernelInfo {
  explicit KernelInfo(const posgauge_kernel& kernel);

  const posgauge_kernel* kernel;
  std::string name, quantity;
  std::vector<std::string> schemes;  // empty: every scheme
  std::vector<TensorSpec> inputs, outputs;
  std::vector<Pairing> pairings;
  Contract contract;
  std::vector<std::string> invariances;

  /// The dtype of x, or of the first output.
  Dtype io() const;
  const TensorSpec* Input(std::string_view tensor) const;
  bool Declares(std::string_view invariance) const;
  /// Whether it serves the scheme at all: word, pairing, width. Positions are checked by the call.
  bool Serves(const Scheme& scheme) const;
};

/// The kernel said that it does not offer this call.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The kernel failed at what it offers.
class KernelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct TablePair {
  Tensor cos, sin;  // [tokens, pairs]
};

/// A kernel bound to one scheme, as every check sees it. What the kernel wants but does not compute
/// (frequencies, tables) posgauge supplies from the proven reference, rounded to the dtype that the
/// kernel takes. Copyable; calls may throw Unsupported and KernelFailure.
class Subject {
 public:
  Subject(const KernelInfo& info, const Scheme& scheme);

  const KernelInfo& info() const { return info_; }
  const Scheme& scheme() const { return scheme_; }
  const Rotary& layout() const { return RotaryOf(scheme_); }
  Dtype io() const { return info_.io(); }

  /// The proven rotation of the scheme: the end-to-end truth.
  const ExactRotation& exact() const { return exact_; }

  /// The truth given exactly the frequencies that posgauge supplies; the same as exact() for a
  /// kernel that computes them itself. A supplied table is not part of it.
  const ExactRotation& given() const { return given_; }
  bool GivenIsExact() const { return given_is_exact_; }

  /// Stages whose results posgauge supplied ("frequency", "table"): not covered by a verdict.
  std::vector<std::string> NotCovered() const;
  bool TakesTable() const { return info_.Input("cos") != nullptr; }

  /// Frequencies in radians per token rounded to binary64, [pairs], and the magnitude.
  const std::vector<double>& frequencies() const { return frequencies_; }
  double magnitude() const { return magnitude_; }

  /// The kernel's bound against the end-to-end truth: the contract, with the stages that posgauge
  /// supplied as accurate as they were supplied. This is what laws use.
  const RotaryBound& bound() const { return bound_; }

  /// The kernel's bound against the truth given exactly what posgauge supplied.
  const RotaryBound& local_bound() const { return local_bound_; }

  /// The quantity `frequencies`: high parts, low parts (zeros where the kernel has none),
  /// magnitude.
  struct FrequencyOutput {
    std::vector<double> high, low;
    double magnitude = 1;
    // Unit roundoff of the dtypes they came in, where those do not hold the contract's arithmetic.
    double export_roundoff = 0;
  };
  FrequencyOutput Frequencies() const;

  /// The quantity `table`.
  TablePair Table(Positions positions) const;

  /// The quantities `rotate` and `rotate_backward`, whichever the kernel is. x and the result
  /// [tokens, heads, head_dim] of dtype io(). `in_place` writes over a copy of x.
  Tensor Rotate(Positions positions, const Tensor& x, bool in_place = false) const;

  /// The table that posgauge hands over for these positions (only if TakesTable()). The last few
  /// are kept: laws ask for the same positions again and again, and every entry is proven.
  TablePair SuppliedTable(Positions positions) const;

 private:
  KernelInfo info_;
  Scheme scheme_;
  ExactRotation exact_, given_;
  bool given_is_exact_ = true;
  struct Tables;
  std::shared_ptr<Tables> tables_;  // shared by copies; safe between threads
  std::vector<DoubleDouble> supplied_frequencies_;
  std::vector<double> frequencies_;
  double magnitude_;
  RotaryBound bound_, local_bound_;
};

}  // namespace posgauge
