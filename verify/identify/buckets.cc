#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "posgauge/reference/t5.h"
#include "posgauge/verify/identify/identity.h"

namespace posgauge {

namespace {

using t5::Params;

// Buckets that are looked for; the published numbers are 32 and 64.
constexpr size_t kMostBuckets = 512;

// What shares a bucket: key position less the query's, and its bucket or, of biases, the number of
// its group.
using Groups = std::map<int64_t, int64_t>;

// Nothing where one distance has two biases, or a position is not whole.
std::optional<Groups> GroupsOf(const Answers& answers, bool* causal) {
  const bool is_bias = answers.quantity == "bias";
  const Tensor& tensor = answers.tensors.at(answers.quantity);
  const size_t queries = answers.query_positions.size(), keys = answers.key_positions.size();
  const size_t heads = is_bias ? static_cast<size_t>(tensor.shape()[0]) : 1;
  Groups groups;
  std::map<std::vector<double>, int64_t> numbers;
  for (size_t query = 0; query < queries; ++query) {
    for (size_t key = 0; key < keys; ++key) {
      const double distance = answers.key_positions[key] - answers.query_positions[query];
      if (distance != std::trunc(distance) || std::fabs(distance) > 0x1p52) return std::nullopt;
      std::vector<double> held;
      bool finite = true;
      for (size_t head = 0; head < heads; ++head) {
        held.push_back(tensor.Value((head * queries + query) * keys + key));
        finite = finite && std::isfinite(held.back());
      }
      if (!finite) {
        *causal = true;
        continue;
      }
      // A table of ours numbers its buckets; so do buckets.
      const bool numbered = !is_bias || answers.num_buckets.has_value();
      const auto next = static_cast<int64_t>(numbers.size());
      const int64_t number =
          numbered ? static_cast<int64_t>(held[0]) : numbers.emplace(held, next).first->second;
      const auto [at, added] = groups.emplace(static_cast<int64_t>(distance), number);
      if (!added && at->second != number) return std::nullopt;
    }
  }
  return groups;
}

int64_t BucketOf(const Params& params, const std::vector<int64_t>& first, int64_t relative) {
  const int64_t distance =
      params.bidirectional ? std::abs(relative) : std::max<int64_t>(-relative, 0);
  const int64_t direction = params.bidirectional && relative > 0 ? params.DirectionBuckets() : 0;
  return direction + (std::ranges::upper_bound(first, distance) - first.begin()) - 1;
}

bool Matches(const Params& params, const Groups& groups) {
  const std::vector<int64_t>& first = t5::FirstDistances(params);
  return std::ranges::all_of(groups, [&](const auto& group) {
    return BucketOf(params, first, group.first) == group.second;
  });
}

// The smallest and the largest max_distance M that give those buckets. Of m exact buckets and E
// others, distance d is in the j-th other or a later one where d >= m (M/m)^(j/E), which is
// M <= m (d/m)^(E/j).
std::optional<std::array<int64_t, 2>> Distances(Params params, const Groups& groups) {
  constexpr double kMost = 0x1p31;
  const auto exact = static_cast<double>(params.ExactBuckets());
  const auto others = static_cast<double>(params.DirectionBuckets()) - exact;
  double above = exact, most = kMost;
  for (const auto& [relative, bucket] : groups) {
    const bool forward = params.bidirectional && relative > 0;
    const auto step =
        static_cast<double>(bucket - (forward ? params.DirectionBuckets() : 0)) - exact;
    const double ratio = std::fabs(static_cast<double>(relative)) / exact;
    if (step > 0) most = std::min(most, exact * std::pow(ratio, others / step));
    if (step >= 0 && step + 1 < others) {
      above = std::max(above, exact * std::pow(ratio, others / (step + 1)));
    }
  }
  // Relative error of the powers: 2^-53 times an exponent below 2^12, and as much for theirs; below
  // 2^31 that is less than 2^-9.
  constexpr double kError = 0x1p-9;
  if (!(above <= most + 2 * kError)) return std::nullopt;
  const auto first_match = [&](std::initializer_list<double> tried) -> std::optional<int64_t> {
    for (double distance : tried) {
      params.max_distance = static_cast<int64_t>(std::min(distance, kMost));
      if (params.max_distance > params.ExactBuckets() && Matches(params, groups)) {
        return params.max_distance;
      }
    }
    return std::nullopt;
  };
  const double least = std::floor(above - kError) + 1;
  const auto smallest = first_match({least, least + 1});
  if (!smallest) return std::nullopt;
  const double largest = std::floor(most + kError);
  return std::array{*smallest, first_match({largest, largest - 1}).value_or(*smallest)};
}

// Buckets by their number from what shares one: those of a direction are numbered outward.
std::optional<Groups> Numbered(const Groups& groups, bool bidirectional, int64_t per_direction) {
  Groups numbered;
  std::map<int64_t, int64_t> seen;  // group to bucket
  int64_t next = 0;
  for (auto at = groups.upper_bound(0); at != groups.begin();) {
    --at;
    const auto [found, added] = seen.emplace(at->second, next);
    if (added) ++next;
    numbered[at->first] = found->second;
  }
  next = per_direction + 1;  // the distance 0 takes the first of the other direction
  for (auto at = groups.upper_bound(0); at != groups.end(); ++at) {
    if (!bidirectional) {
      const auto found = seen.find(at->second);
      if (found == seen.end()) return std::nullopt;
      numbered[at->first] = found->second;
      continue;
    }
    const auto [found, added] = seen.emplace(at->second, next);
    if (added) ++next;
    numbered[at->first] = found->second;
  }
  return numbered;
}

// Whether the same distances share a bucket: a bias does not show its number.
bool SharesAlike(const Params& params, const Groups& groups) {
  const std::vector<int64_t>& first = t5::FirstDistances(params);
  std::map<int64_t, int64_t> group_of, bucket_of;
  return std::ranges::all_of(groups, [&](const auto& group) {
    const int64_t bucket = BucketOf(params, first, group.first);
    return group_of.emplace(bucket, group.second).first->second == group.second &&
           bucket_of.emplace(group.second, bucket).first->second == bucket;
  });
}

// Where the groups of distances back from the query end and begin: (last, first] observed.
using Bounds = std::vector<std::array<int64_t, 2>>;

Bounds BoundsOf(const Groups& groups) {
  Bounds bounds;
  auto at = groups.upper_bound(0);
  for (auto before = at; at != groups.begin(); before = at) {
    --at;
    if (before != groups.upper_bound(0) && before->second != at->second) {
      bounds.push_back({-before->first, -at->first});
    }
  }
  return bounds;
}

// In binary64, which rules most out: whether buckets begin where groups do.
bool MayBegin(const Params& params, const Bounds& bounds) {
  const int64_t exact = params.ExactBuckets(), others = params.DirectionBuckets() - exact;
  const double ratio = static_cast<double>(params.max_distance) / static_cast<double>(exact);
  auto bound = bounds.begin();
  bool is_met = false;
  for (int64_t step = 1 - exact; step < others; ++step) {
    constexpr double kTie = 1e-9;  // the exact comparison decides
    const double share = static_cast<double>(step) / static_cast<double>(others);
    const int64_t begins =
        step <= 0 ? exact + step
                  : static_cast<int64_t>(
                        std::ceil(static_cast<double>(exact) * std::pow(ratio, share) - kTie));
    for (; bound != bounds.end() && begins > (*bound)[1]; ++bound) {
      if (!std::exchange(is_met, false)) return false;
    }
    if (bound == bounds.end() || begins <= (*bound)[0]) return false;
    is_met = true;
  }
  return is_met && bound + 1 == bounds.end();
}

// Rules whose max_distance is so close to the exact range that buckets are left without a distance,
// by number of buckets: the smallest and the largest max_distance.
std::vector<std::pair<Params, std::array<int64_t, 2>>> WithEmptyBuckets(const Groups& groups,
                                                                        bool bidirectional) {
  constexpr int64_t kWidest = 64;  // values of max_distance tried
  std::vector<std::pair<Params, std::array<int64_t, 2>>> found;
  const Bounds bounds = BoundsOf(groups);
  if (bounds.empty()) return found;
  const auto [before_last, last] = bounds.back();
  int64_t run = 1;  // distances of their own from 0 on
  while (run <= std::ssize(bounds) && bounds[static_cast<size_t>(run - 1)][1] == run) ++run;
  for (int64_t exact = std::max<int64_t>(1, std::ssize(bounds) / 2); exact <= run; ++exact) {
    for (int64_t buckets = bidirectional ? 4 * exact : 2 * exact;
         buckets < (bidirectional ? 4 : 2) * (exact + 1); ++buckets) {
      Params params{.num_buckets = buckets, .bidirectional = bidirectional};
      const int64_t others = params.DirectionBuckets() - exact;
      const auto from = [&](int64_t distance) {
        const double ratio = static_cast<double>(distance) / static_cast<double>(exact);
        const double power = static_cast<double>(others) / static_cast<double>(others - 1);
        return others < 2 ? 0 : static_cast<double>(exact) * std::pow(std::max(ratio, 1.0), power);
      };
      const auto low = std::max(exact + 1, static_cast<int64_t>(from(before_last)));
      const auto high = std::min(low + kWidest, static_cast<int64_t>(from(last)) + 1);
      std::array<int64_t, 2> range = {0, 0};
      for (params.max_distance = low; params.max_distance <= std::max(low, high);
           ++params.max_distance) {
        if (!MayBegin(params, bounds) || !SharesAlike(params, groups)) continue;
        if (range[0] == 0) range[0] = params.max_distance;
        range[1] = params.max_distance;
      }
      if (range[0] != 0) found.emplace_back(params, range);
    }
  }
  return found;
}

}  // namespace

Identity IdentifyBuckets(const Answers& answers) {
  Identity identity{.source = answers.source, .quantity = answers.quantity};
  bool causal = false;
  const std::optional<Groups> groups = GroupsOf(answers, &causal);
  const auto groups_of = [&] {
    std::vector<int64_t> all;
    for (const auto& [relative, number] : *groups) all.push_back(number);
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  };
  if (!groups || groups_of().size() < 2) {
    identity.why_not =
        groups ? "one bias for every distance" : "equal distances have different biases";
    return identity;
  }
  if (groups_of().size() > kMostBuckets) {
    identity.why_not = fmt::format("more than {} different biases by distance", kMostBuckets);
    return identity;
  }
  const bool numbered = answers.quantity == "buckets" || answers.num_buckets.has_value();
  const std::vector<int64_t> numbers = groups_of();
  std::vector<std::string> ranges;
  for (bool bidirectional : {true, false}) {
    // Buckets that no distance reaches do not show: a few more are tried.
    const auto shown = numbered ? numbers.back() + 1 : static_cast<int64_t>(numbers.size());
    for (int64_t buckets = std::max<int64_t>(shown, bidirectional ? 4 : 2);
         buckets <= std::min<int64_t>(4096, shown + 4); ++buckets) {
      if (answers.num_buckets && buckets > *answers.num_buckets) break;
      Params params{.num_buckets = buckets, .bidirectional = bidirectional};
      params.attention.causal = causal;
      if (answers.head_dim) params.attention.head_dim = *answers.head_dim;
      if (answers.quantity == "bias") {
        params.attention.heads = answers.tensors.at("bias").shape()[0];
      }
      const std::optional<Groups> as_numbers =
          numbered ? groups : Numbered(*groups, bidirectional, params.DirectionBuckets());
      if (!as_numbers) continue;
      const auto reach = Distances(params, *as_numbers);
      if (!reach) continue;
      const auto [low, high] = *reach;
      params.max_distance = low;
      // The published distance where it is one of them, else the first power of two, else the
      // least.
      for (int64_t usual : {int64_t{1} << 31, int64_t{256}, int64_t{128}}) {
        if (usual >= low && usual <= high) params.max_distance = usual;
      }
      identity.schemes.push_back(params);
      ranges.push_back(fmt::format("max_distance of num_buckets={}: {}..{} give the same buckets",
                                   buckets, low, high));
    }
  }
  for (bool bidirectional : {true, false}) {
    if (numbered || !identity.schemes.empty()) break;
    for (auto& [params, reach] : WithEmptyBuckets(*groups, bidirectional)) {
      params.max_distance = reach[0];
      params.attention.causal = causal;
      if (answers.head_dim) params.attention.head_dim = *answers.head_dim;
      params.attention.heads = answers.tensors.at("bias").shape()[0];
      identity.schemes.push_back(params);
      ranges.push_back(fmt::format("max_distance of num_buckets={}: {}..{} share buckets alike",
                                   params.num_buckets, reach[0], reach[1]));
    }
  }
  if (identity.schemes.empty()) {
    identity.why_not = "what shares a bias is no series of logarithmic buckets";
    return identity;
  }
  const auto& first = std::get<Params>(identity.schemes.front());
  identity.facts = {{"bidirectional", first.bidirectional ? "yes" : "no"},
                    {"num_buckets", std::to_string(first.num_buckets)},
                    {"max_distance", std::to_string(first.max_distance)}};
  identity.undetermined = ranges;
  if (causal) {
    identity.undetermined.push_back("bidirectional: keys after the query are masked");
  }
  return identity;
}

}  // namespace posgauge
