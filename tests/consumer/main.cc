// Prints one proven value, one of the kernels' own, and a contract: one line a library.
#include <array>

#include <fmt/format.h>

#include "posgauge/fast/rope.h"
#include "posgauge/kernel.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/contract.h"

int main() {
  using namespace posgauge;
  const Scheme scheme = ParseScheme("rope", {"rotary_dim=2"});
  const std::array positions = {1.0};
  const RoundedTable table = ExactRotation(scheme).Table(positions, Dtype::f64);
  fmt::print("reference: cos(1 rad) = {:a}, {} proven\n", table.cos.values[0],
             table.cos.counts.proven);

  const FastRotation fast = rope::Frequencies(std::get<rope::Params>(scheme));
  fmt::print("fast: {} frequency, {} rad per token\n", fast.frequency.size(),
             fast.frequency[0].high);

  const Contract contract = Contract::Parse("angle=f32 table=bf16", Dtype::f32);
  fmt::print("verify: kernel interface {}, table of {}\n", POSGAUGE_ABI_VERSION,
             VariantName(contract.table));
}
