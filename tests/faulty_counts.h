#pragma once

#include <vector>

#include "posgauge/reference/equation_quantity.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/cope.h"

namespace posgauge {

/// What goes wrong where gates are counted and a table is interpolated.
struct CountFault {
  bool exclusive = false;   // a key's own gate is left out
  bool from_start = false;  // the sum runs from the first key on
  bool unmasked = false;    // gates of keys out of sight count
  bool swapped = false;     // the weights of floor and ceiling change places
  bool unbalanced = false;  // the floor has weight 1
};

/// The scores or outputs of cope in plain binary64, with a fault: of the result's shape, in C
/// order.
std::vector<double> Counted(const cope::Params& params, EquationQuantity quantity,
                            const NamedInputs& inputs, const std::vector<int64_t>& shape,
                            const CountFault& fault);

}  // namespace posgauge
