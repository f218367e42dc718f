#include "posgauge/fast/wide.h"

namespace posgauge::fast {

namespace {
const Wide kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
}  // namespace

// x = 2^k m, m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(z) = 2 (z + z^3/3 + ...), z = (m-1)/(m+1),
// |z| <= 0.1716. The series ends where z^(2j) < 2^-110: 2 (2.54 bits) j, j = 21. m - 1 is exact up
// to its own rounding 3, so z carries 21 u^2, z^2 carries 47, which the sum 1 + z^2/3 + ... <= 1.01
// sees at 1/100, and the last products bring ln m to 32 u^2. With k != 0, |k ln 2| <= 2 |ln x| and
// |ln m| <= |ln x|: at most 2 * 6 + 32 + 3 = 47 u^2 < 2^-100.
Wide Log(Wide x) {
  int k = 0;
  double m = std::frexp(x.high, &k);
  if (m < 0x1.6a09e667f3bcdp-1) {  // sqrt(1/2)
    m *= 2;
    --k;
  }
  const Wide mantissa = {m, std::ldexp(x.low, -k)};
  const Wide z = (mantissa - 1) / (mantissa + 1);
  const Wide square = z * z;
  Wide sum = 0;
  for (int j = 21; j >= 0; --j) sum = sum * square + Wide(1) / Wide(2 * j + 1);
  return Wide(k) * kLn2 + Wide(2) * z * sum;
}

// x = k ln 2 + r, |r| <= 0.35: k ln 2 carries 6 u^2 of |x|, absolutely. Taylor in nested form, 26
// terms: 0.35^26/26! < 2^-127. The nested sums are 1 + (r/n)(...), so that the errors of the inner
// ones are multiplied by r/n: below 32 u^2 together.
Wide Exp(Wide x) {
  const double k = std::nearbyint(x.high / kLn2.high);
  const Wide r = x - Wide(k) * kLn2;
  Wide sum = 1;
  for (int n = 26; n >= 1; --n) sum = Wide(1) + r * sum / Wide(n);
  return {std::ldexp(sum.high, static_cast<int>(k)), std::ldexp(sum.low, static_cast<int>(k))};
}

Wide Floor(Wide x) {
  const double high = std::floor(x.high);
  return high == x.high ? FastTwoSum(high, std::floor(x.low)) : Wide(high);
}

Wide Ceil(Wide x) { return -Floor(-x); }

}  // namespace posgauge::fast
