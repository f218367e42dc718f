#include "posgauge/verify/equation_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posgauge/reference/equation_rows.h"
#include "posgauge/verify/emulated.h"
#include "posgauge/verify/frequency_error.h"
#include "posgauge/verify/tracked.h"

namespace posgauge {

namespace {

size_t Count(const std::vector<int64_t>& shape) {
  return static_cast<size_t>(
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

// x plus rows, or rows alone, [positions, width]: a kernel holds a row before it adds it.
template <class R, class Params, class Store>
void RunRows(const Contract& contract, const Params& params, EquationQuantity quantity,
             const NamedInputs& inputs, const Store& store) {
  const auto rows = [&] {
    const ArithmeticScope scope(DeclaredArithmetic::OfParameters(contract));
    return MakeRows<R>(params, inputs);
  }();
  const ArithmeticScope scope(DeclaredArithmetic::OfTable(contract));
  size_t index = 0;
  for (double position : inputs["positions"].values) {
    for (const R& number : rows.Row(position)) {
      const R held = Held(number);
      store(index, false,
            quantity == EquationQuantity::table ? held : R(inputs["x"].values[index]) + held);
      ++index;
    }
  }
}

// Calls store(index, masked, number) for every element of a result in numbers of type R.
template <class R, class Store>
void Run(const Contract& contract, const Scheme& scheme, EquationQuantity quantity,
         const NamedInputs& inputs, const std::vector<int64_t>& shape, const Store& store) {
  WithEquations(scheme, [&]<class Params>(const Params& params) {
    if constexpr (Adds<Params>) {
      RunRows<R>(contract, params, quantity, inputs, store);
      return 0;
    } else {
      const auto shared = [&] {
        const ArithmeticScope of_parameters(DeclaredArithmetic::OfParameters(contract));
        if constexpr (SharesBetweenHeads<Params>) {
          auto made = MakeShared<R>(params, inputs);
          const ArithmeticScope of_results(DeclaredArithmetic::OfResults(contract));
          made->Evaluate();
          return made;
        } else {
          return nullptr;
        }
      }();
      ForEachRow(quantity, shape, [&](int64_t head_index, int64_t query) {
        const auto head = [&] {
          const ArithmeticScope scope(DeclaredArithmetic::OfParameters(contract));
          if constexpr (SharesBetweenHeads<Params>) {
            return MakeHead<R>(params, inputs, head_index, shared);
          } else {
            return MakeHead<R>(params, inputs, head_index);
          }
        }();
        const ArithmeticScope scope(DeclaredArithmetic::OfResults(contract));
        const std::vector<R> row = RowOf<R>(params, head, quantity, inputs, head_index, query);
        const RowPlace place = PlaceOf(quantity, shape, head_index, query);
        for (size_t i = 0; i < row.size(); ++i) {
          const bool masked = IsMasked(params, quantity, inputs, query, static_cast<int64_t>(i));
          store(static_cast<size_t>(place.first) + i, masked, row[i]);
        }
      });
      return 0;
    }
  });
}

bool PositionsHeld(const Contract& contract, const NamedInputs& inputs) {
  for (const char* name : {"positions", "query_positions", "key_positions"}) {
    const ExactTensor* positions = inputs.Find(name);
    if (positions == nullptr) continue;
    for (double position : positions->values) {
      if (LossOf(contract.position, contract.flush_to_zero, position).relative > 0) return false;
    }
  }
  return true;
}

EquationLimit LimitOf(const Contract& contract, const Tracked& number) {
  const Arithmetic store = ArithmeticOf(contract.store);
  const bool flush = contract.flush_to_zero;
  // The interval covers the last rounding that is not idle.
  const bool last_is_store =
      number.arithmetic == store && contract.store_rounding != StoreRounding::rtz;
  const double excess =
      (last_is_store ? number.before : number.error) + (flush ? UnderflowError(store, true) : 0);
  const bool idle = number.IsConstant()
                        ? RoundTo(FormatOf(contract.store), number.value) == number.value
                        : Holds(store, number.arithmetic);
  const double share = contract.store_rounding == StoreRounding::rne ? 1 : 2;
  const double largest = std::fabs(number.value) + number.own + number.error;
  const double rounding =
      idle && !flush ? 0 : share * (UnitRoundoff(store) * largest + UnderflowError(store, flush));
  const double stored = (number.error + rounding) * (1 + 0x1p-47);
  const bool overflows = !(largest <= LargestFinite(store));
  return {overflows ? HUGE_VAL : excess, overflows ? HUGE_VAL : stored, number.size};
}

}  // namespace

std::vector<EquationLimit> EquationBound::Limits(EquationQuantity quantity,
                                                 const NamedInputs& inputs,
                                                 const std::vector<int64_t>& shape) const {
  std::vector<EquationLimit> limits(Count(shape));
  if (quantity == EquationQuantity::buckets) return limits;
  const bool held = PositionsHeld(contract_, inputs);
  Run<Tracked>(contract_, scheme_, quantity, inputs, shape,
               [&](size_t index, bool masked, const Tracked& number) {
                 if (masked) return;
                 limits[index] = LimitOf(contract_, number);
                 if (!held) limits[index].excess = limits[index].stored = HUGE_VAL;
               });
  return limits;
}

std::vector<double> EmulateEquations(const Contract& contract, const Scheme& scheme,
                                     EquationQuantity quantity, const NamedInputs& inputs,
                                     const std::vector<int64_t>& shape) {
  std::vector<double> values(Count(shape));
  const Format format = FormatOf(contract.store);
  Run<Emulated>(contract, scheme, quantity, inputs, shape,
                [&](size_t index, bool masked, const Emulated& number) {
                  values[index] = masked ? -HUGE_VAL : RoundTo(format, number.value);
                });
  return values;
}

}  // namespace posgauge
