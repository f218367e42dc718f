#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

/// A tensor of exact numbers, in C order.
struct ExactTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;

  bool operator==(const ExactTensor&) const = default;

  double At(int64_t i) const { return values[static_cast<size_t>(i)]; }
  double At(int64_t i, int64_t j) const { return At(i * shape[1] + j); }
  double At(int64_t i, int64_t j, int64_t k) const { return At((i * shape[1] + j) * shape[2] + k); }
};

/// The tensors of a call by their names in posgauge/kernel.h.
struct NamedInputs {
  std::map<std::string, ExactTensor, std::less<>> tensors;

  /// Null where there is none.
  const ExactTensor* Find(std::string_view name) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
  }

  bool operator==(const NamedInputs&) const = default;

  /// Throws ParameterError that names what is missing.
  const ExactTensor& operator[](std::string_view name) const {
    const auto found = tensors.find(name);
    Require(found != tensors.end(), "input {} is missing", name);
    return found->second;
  }
};

}  // namespace posgauge
