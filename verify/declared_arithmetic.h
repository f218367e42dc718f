#pragma once

#include "posgauge/verify/contract.h"

namespace posgauge {

/// Which arithmetic of a contract the equations of a scheme of attention (reference/<scheme>.h) run
/// in, where their numbers are Tracked or Emulated:
///
///                 while MakeHead forms parameters         afterwards
///   + - * /       frequency, exact if it is `rn`          rotate
///   Position...   as + - * /                              position
///   Angle         as + - * /                              angle
///   functions     one ulp of frequency, exact if `rn`     trig
///   Sum           as + - * /                              accumulate
///   Held          frequency                               nothing: held already
///
/// A row that is to be added is held in `table`, then added in `rotate`.
struct DeclaredArithmetic {
  Arithmetic elementwise = Arithmetic::exact, positions = Arithmetic::exact,
             angles = Arithmetic::exact, functions = Arithmetic::exact, sums = Arithmetic::exact,
             held = Arithmetic::exact;
  double function_ulps = 0;
  bool flush_to_zero = false;

  static DeclaredArithmetic OfParameters(const Contract& contract) {
    const Arithmetic inside =
        contract.frequency_formula == FrequencyFormula::rn ? Arithmetic::exact : contract.frequency;
    return {inside, inside, inside, inside, inside, contract.frequency, 1, contract.flush_to_zero};
  }
  static DeclaredArithmetic OfResults(const Contract& contract) {
    return {contract.rotate,     contract.position, contract.angle,     contract.trig_arithmetic,
            contract.accumulate, Arithmetic::exact, contract.trig_ulps, contract.flush_to_zero};
  }
  static DeclaredArithmetic OfTable(const Contract& contract) {
    DeclaredArithmetic arithmetic = OfResults(contract);
    arithmetic.held = contract.table;
    return arithmetic;
  }

  /// The same where positions are formed.
  DeclaredArithmetic OfPositions() const {
    DeclaredArithmetic arithmetic = *this;
    arithmetic.elementwise = arithmetic.sums = positions;
    return arithmetic;
  }
};

/// What the numbers of this thread compute in while an object of this class lives; the one before
/// comes back when it goes. The equations name no arithmetic, so it cannot be passed to them.
class ArithmeticScope {
 public:
  explicit ArithmeticScope(const DeclaredArithmetic& arithmetic) : before_(Current()) {
    Current() = arithmetic;
  }
  ~ArithmeticScope() { Current() = before_; }
  ArithmeticScope(const ArithmeticScope&) = delete;
  ArithmeticScope& operator=(const ArithmeticScope&) = delete;

  static DeclaredArithmetic& Current() {
    thread_local DeclaredArithmetic current;
    return current;
  }

 private:
  DeclaredArithmetic before_;
};

}  // namespace posgauge
