#include <algorithm>
#include <cmath>
#include <map>

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
