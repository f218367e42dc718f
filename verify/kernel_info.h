#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/kernel.h"

namespace posgauge {

class IsolatedLibrary;

/// A tensor that a kernel takes or yields, as its descriptor says: "positions:i64,i32,f32". One
/// that only some parameters of a scheme call for is optional: "w1?:f32".
struct TensorSpec {
  std::string name;
  std::vector<Dtype> dtypes;  // the preferred first
  bool optional = false;
};

/// A kernel's descriptor, read and checked. Throws FormatError that names the library's mistake.
struct KernelInfo {
  explicit KernelInfo(const posgauge_kernel& kernel);

  /// What it was read from; what its texts point to is the library's.
  std::shared_ptr<const posgauge_kernel> kernel;
  std::string name, quantity;
  std::vector<std::string> schemes;  // empty: every scheme
  std::vector<TensorSpec> inputs, outputs;
  std::vector<Pairing> pairings;
  Contract contract;
  std::vector<std::string> invariances;

  /// Where it runs in a process of its own, that library, and its place among its kernels.
  std::shared_ptr<IsolatedLibrary> isolated;
  uint32_t index = 0;

  /// The dtype of x, or of the first output.
  Dtype io() const;
  const TensorSpec* Input(std::string_view tensor) const;
  bool Declares(std::string_view invariance) const;
  /// Whether it yields rows or what they are added to; otherwise it is of rotations, or, where it
  /// yields frequencies, of any scheme.
  bool Adds() const { return quantity == "embed" || outputs[0].name == "rows"; }
  /// Whether it takes a batch of sequences that all begin at position 0, for want of anything that
  /// says where they do.
  bool CountsFromZero() const;
  /// Whether its quantity is one of attention.
  bool IsOfAttention() const;
  /// The contract as a line, with the stages that its quantity has.
  std::string ContractText() const {
    return IsOfAttention() ? contract.AttentionText() : contract.Text();
  }
  /// Whether it serves the scheme at all: kind, word, pairing, width. Positions are checked by the
  /// call.
  bool Serves(const Scheme& scheme) const { return WhyNot(scheme).empty(); }
  /// Why it does not serve the scheme, in words; empty if it does.
  std::string WhyNot(const Scheme& scheme) const;
};

/// Whether some scheme has a list field of that name.
bool IsListField(std::string_view name);

}  // namespace posgauge
