#include "posgauge/reference/proof.h"

#include <algorithm>

namespace posgauge {

void ProofCounts::Add(Proof proof, int bits) {
  switch (proof) {
    case Proof::exact:
      ++exact;
      break;
    case Proof::proven:
      ++proven;
      break;
    case Proof::undecided:
      ++undecided;
      break;
  }
  max_bits = std::max(max_bits, bits);
}

void ProofCounts::Merge(const ProofCounts& other) {
  exact += other.exact;
  proven += other.proven;
  undecided += other.undecided;
  max_bits = std::max(max_bits, other.max_bits);
}

}  // namespace posgauge
