#pragma once

#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/random.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// One number of a weight in its range, exactly representable in dtype: 2^-4..2 times the typical
/// size.
double DrawWeight(const Weight& weight, Dtype dtype, Random& random);

/// Rows [count, heads, head_dim] for q, k and v: of sizes 2^-3..2. Heads take turns: any; sparse;
/// with halves that cancel against `against`, if that is given; of one size.
ExactTensor DrawRows(int64_t count, const Attention& attention, Dtype dtype,
                     const ExactTensor* against, Random& random);

/// Positions at which a call has 133 keys in a row, 2 4^n - 1 from 511 on, or 67 queries, 4^n from
/// 256 on; where buckets count, the keys about their ends too.
bool AsksManyKeys(double position);
bool AsksManyQueries(double position);

/// What a kernel is asked at one position, depending on seed and position only: the queries there
/// and before, keys close by, at powers of two below and at 0, where buckets begin and end, and,
/// without a mask, above. A few positions ask for longer calls: the last one of a short table for
/// all its keys, and those of AsksManyKeys and AsksManyQueries.
NamedInputs PlanAttention(const Scheme& scheme, const ExactEquations& exact,
                          EquationQuantity quantity, Dtype dtype, double position, uint64_t seed);

/// What a kernel of rows is asked at these positions: embeddings of its own for each, depending on
/// seed and position only, and the same weights for all. Embeddings take turns: any; the negative
/// of what is added; sparse, with zeros of both signs; of one size.
NamedInputs PlanRows(const Scheme& scheme, const ExactEquations& exact, EquationQuantity quantity,
                     Dtype dtype, Positions positions, uint64_t seed);

/// A weight of a model, the same at every position of one seed.
ExactTensor PlanWeight(const Weight& weight, Dtype dtype, uint64_t seed);

}  // namespace posgauge
