#include "posgauge/verify/effective_explanation.h"

#include <algorithm>

namespace posgauge {

namespace {

using Causes = std::vector<const EffectiveCause*>;

// A reading that gives what is said.
struct Candidate {
  Causes causes;
  Reading reading;
  int unsaid = 0;  // changes of things that nothing is said of
};

// What else the reading changes: frequencies, magnitude, multiplier, or the scheme's channels.
int Unsaid(const Effective& effective, const Reading& meant, const Reading& reading) {
  int changes = 0;
  changes += !effective.inv_freq && reading.frequencies != meant.frequencies;
  changes += !effective.attention_factor && reading.magnitude != meant.magnitude;
  const bool logits = effective.softmax_multiplier || effective.logit_scale;
  changes += !logits && reading.softmax_multiplier != meant.softmax_multiplier;
  if (!IsRotary(meant.scheme) || !IsRotary(reading.scheme)) return changes;
  const Rotary& own = RotaryOf(meant.scheme);
  const Rotary& other = RotaryOf(reading.scheme);
  changes += !effective.rotary_dim && own.rotary_dim != other.rotary_dim;
  changes += !effective.rotary_offset && own.rotary_offset != other.rotary_offset;
  changes += !effective.pairing && own.pairing != other.pairing;
  return changes;
}

// Whether the reading gives all the fields; a rounding of its frequencies is added to the causes.
bool Gives(const ReplayContext& context, const std::vector<EffectiveField>& fields,
           Candidate& candidate) {
  for (const EffectiveField& field : fields) {
    const Fit fit = FitOf(field, context.effective, candidate.reading);
    if (fit == Fit::no) return false;
    // Slopes too may be rounded; that is no fault of their schedule.
    if (field != "inv_freq" || fit == Fit::yes) continue;
    candidate.causes.push_back(
        &FindEffectiveCause(fit == Fit::as_bf16 ? "frequency_bf16" : "frequency_f16"));
  }
  return true;
}

// All single causes that give the fields, those first that are not rounded, then those that change
// the least beyond, then in the order of the table.
std::vector<Candidate> Single(const ReplayContext& context,
                              const std::vector<EffectiveField>& fields) {
  const Reading meant = ReadingOf(context.group.scheme, context.arithmetic);
  std::vector<Candidate> candidates;
  for (const EffectiveCause& cause : EffectiveCauses()) {
    if (cause.replay == nullptr) continue;
    for (Reading& reading : cause.replay(context)) {
      Candidate candidate{{&cause}, std::move(reading)};
      if (!Gives(context, fields, candidate)) continue;
      candidate.unsaid = Unsaid(context.effective, meant, candidate.reading);
      candidates.push_back(std::move(candidate));
      break;
    }
  }
  std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(candidate.causes.size(), candidate.unsaid);
  });
  return candidates;
}

// The first two causes that together give the frequencies, the second on what the first makes of
// the scheme; the second leaves the number of pairs as it is, and each scheme is tried once.
std::vector<Candidate> Double(const ReplayContext& context) {
  const std::vector<EffectiveField> fields = {"inv_freq"};
  const size_t pairs = context.effective.inv_freq->values.size();
  std::vector<Scheme> tried;
  for (const EffectiveCause& first : EffectiveCauses()) {
    if (first.replay == nullptr) continue;
    for (const Reading& made : first.replay(context)) {
      const bool was_tried = std::ranges::find(tried, made.scheme) != tried.end();
      if (!made.is_scheme || made.frequencies.size() != pairs || was_tried) continue;
      tried.push_back(made.scheme);
      LayerGroup group = context.group;
      group.scheme = made.scheme;
      const ReplayContext next{context.model, group, context.effective, context.arithmetic};
      for (const EffectiveCause& second : EffectiveCauses()) {
        if (second.replay == nullptr || &second == &first) continue;
        for (Reading& reading : second.replay(next)) {
          reading.difference = fmt::format("{}; {}", made.difference, reading.difference);
          Candidate candidate{{&first, &second}, std::move(reading)};
          if (Gives(next, fields, candidate)) return {candidate};
        }
      }
    }
  }
  return {};
}

EffectiveDifference NamedBy(const std::vector<Candidate>& candidates,
                            std::vector<EffectiveField> fields) {
  EffectiveDifference difference{.fields = std::move(fields)};
  if (candidates.empty()) return difference;
  difference.causes = candidates[0].causes;
  difference.what = candidates[0].reading.difference;
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (candidates[i].causes.size() > difference.causes.size()) break;
    difference.twins.push_back(candidates[i].causes[0]->id);
  }
  return difference;
}

}  // namespace

std::vector<EffectiveDifference> Explain(const ReplayContext& context,
                                         const std::vector<EffectiveField>& said,
                                         const std::vector<EffectiveField>& wrong, Fit rounding) {
  if (auto candidates = Single(context, said); !candidates.empty()) {
    // Frequencies that are right but for their rounding are a difference of their own.
    const bool rounded = rounding == Fit::as_bf16 || rounding == Fit::as_f16;
    for (Candidate& candidate : candidates) {
      if (rounded) candidate.causes.resize(1);
    }
    return {NamedBy(candidates, wrong)};
  }
  std::vector<EffectiveDifference> differences;
  for (const EffectiveField& field : wrong) {
    auto candidates = Single(context, {field});
    if (candidates.empty() && field == "inv_freq") candidates = Double(context);
    EffectiveDifference difference = NamedBy(candidates, {field});
    const auto same = std::ranges::find_if(differences, [&](const EffectiveDifference& other) {
      return !difference.causes.empty() && other.causes == difference.causes &&
             other.what == difference.what;
    });
    if (same == differences.end()) {
      differences.push_back(std::move(difference));
    } else {
      same->fields.push_back(field);
    }
  }
  return differences;
}

}  // namespace posgauge
