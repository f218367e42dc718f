#include "posgauge/reference/deberta.h"

#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include <boost/multiprecision/gmp.hpp>

namespace posgauge::deberta {

namespace {

using Integer = boost::multiprecision::mpz_int;

Integer Power(int64_t base, int64_t exponent) {
  return boost::multiprecision::pow(Integer(base), static_cast<unsigned>(exponent));
}

std::vector<int64_t> Compute(const Params& params) {
  const int64_t exact =
      params.position_buckets > 0 ? params.position_buckets / 2 : params.max_position - 1;
  std::vector<int64_t> first(static_cast<size_t>(exact) + 1);
  std::iota(first.begin(), first.end(), int64_t{0});
  const int64_t last = params.max_position - 1, exponent = exact - 1;
  for (int64_t c = 0; params.position_buckets > 0 && c < exponent; ++c) {
    const Integer right = Power(last, c) * Power(exact, exponent - c);
    // The smallest n with n^E > right; last is one such, as c < E.
    int64_t below = exact, above = last;
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      (Power(middle, exponent) > right ? above : below) = middle;
    }
    first.push_back(above);
  }
  if (params.position_buckets == 0 || params.far == Far::bucket) first.push_back(last + 1);
  return first;
}

}  // namespace

const std::vector<int64_t>& FirstDistances(const Params& params) {
  static std::mutex mutex;
  static std::map<std::tuple<int64_t, int64_t, Far>, std::vector<int64_t>> known;
  const std::tuple key(params.position_buckets, params.max_position, params.far);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, Compute(params)).first->second;
}

}  // namespace posgauge::deberta
