#pragma once

#include <span>
#include <utility>
#include <vector>

#include "posgauge/verify/faults/fault.h"

namespace posgauge {

/// The changes that faults make on the way through one call; each stage takes its own.
class Staged {
 public:
  explicit Staged(std::span<const Fault* const> faults) : faults_(faults), acted_(faults.size()) {}

  /// Calls act(change) for every change of this stage; where it returns bool, that says whether the
  /// fault acted, and later alternatives of the same fault are left out.
  template <class Stage, class Act>
  void At(Act act) {
    for (size_t i = 0; i < faults_.size(); ++i) {
      if (acted_[i]) continue;
      const auto try_one = [&](const Change& change) {
        if (const auto* own = std::get_if<Stage>(&change); own != nullptr && !acted_[i]) {
          acted_[i] = act(*own);
        }
      };
      try_one(faults_[i]->change);
      for (const Change& more : faults_[i]->more) try_one(more);
    }
  }

  /// Those of one stage, in order, each of which counts as having acted.
  template <class Stage>
  std::vector<const Stage*> Take() {
    std::vector<const Stage*> taken;
    At<Stage>([&](const Stage& change) {
      taken.push_back(&change);
      return true;
    });
    return taken;
  }

  bool AllActed() const {
    for (const bool acted : acted_) {
      if (!acted) return false;
    }
    return true;
  }

 private:
  std::span<const Fault* const> faults_;
  std::vector<bool> acted_;
};

}  // namespace posgauge
