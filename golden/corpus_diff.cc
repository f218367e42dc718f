#include "posgauge/golden/corpus_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace posgauge::golden {

namespace {

// Numbers in their order, neighbours one apart, both zeros the same.
int64_t Ordinal(const Tensor& tensor, size_t index) {
  const uint64_t bits = tensor.Bits(index);
  const int width = static_cast<int>(8 * SizeOf(tensor.dtype()));
  if (!IsFloat(tensor.dtype())) return static_cast<int64_t>(tensor.Value(index));
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto size = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -size : size;
}

uint64_t Apart(const Tensor& a, const Tensor& b, size_t index) {
  const auto first = static_cast<uint64_t>(Ordinal(a, index));
  const auto second = static_cast<uint64_t>(Ordinal(b, index));
  return Ordinal(a, index) < Ordinal(b, index) ? second - first : first - second;
}

void Compare(const std::string& what, const std::string& before, const std::string& after,
             std::vector<std::string>& reasons) {
  if (before != after) reasons.push_back(fmt::format("{}: {} -> {}", what, before, after));
}

std::string Shown(const std::map<std::string, nlohmann::json>& fields, const std::string& name) {
  const auto at = fields.find(name);
  return at == fields.end() ? "none" : at->second.dump();
}

void CompareSchemes(const Scheme& before, const Scheme& after, std::vector<std::string>& reasons) {
  const std::map<std::string, nlohmann::json> old = nlohmann::json(ToJson(before)),
                                              now = nlohmann::json(ToJson(after));
  std::set<std::string> names;
  for (const auto& [name, value] : old) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);
  for (const std::string& name : names) {
    Compare("scheme." + name, Shown(old, name), Shown(now, name), reasons);
  }
}

std::string Shape(const Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape(), ", "));
}

void CompareInputs(const Case& before, const Case& after, std::vector<std::string>& reasons) {
  for (const auto& [name, tensor] : after.inputs) {
    const auto at = before.inputs.find(name);
    if (at == before.inputs.end()) {
      reasons.push_back(fmt::format("input {}: added", name));
    } else if (at->second.shape() != tensor.shape()) {
      Compare("shape of input " + name, Shape(at->second), Shape(tensor), reasons);
    } else {
      int64_t changed = 0;
      for (size_t i = 0; i < tensor.size(); ++i) {
        changed += tensor.Bits(i) != at->second.Bits(i) ? 1 : 0;
      }
      if (changed > 0) {
        reasons.push_back(
            fmt::format("input {}: {} of {} values changed", name, changed, tensor.size()));
      }
    }
  }
  for (const auto& [name, tensor] : before.inputs) {
    if (!after.inputs.contains(name)) reasons.push_back(fmt::format("input {}: removed", name));
  }
}

void CompareProofs(const std::string& place, const Rounding& before, const Rounding& after,
                   std::vector<std::string>& reasons) {
  const auto text = [](const Rounding& rounding) {
    const ProofCounts& proof = rounding.proof;
    return fmt::format("{} proven, {} exact, {} undecided, {} bits, midpoint {}", proof.proven,
                       proof.exact, proof.undecided, proof.max_bits,
                       rounding.midpoint ? fmt::format("{}", *rounding.midpoint) : "not stated");
  };
  Compare("certificate of " + place, text(before), text(after), reasons);
}

void CompareOutputs(const Case& before, const Case& after, CaseChange& change) {
  for (const auto& [name, roundings] : after.outputs) {
    const auto output = before.outputs.find(name);
    for (const auto& [dtype, rounding] : roundings) {
      const std::string place = fmt::format("{} {}", name, Name(dtype));
      if (output == before.outputs.end() || !output->second.contains(dtype)) {
        change.reasons.push_back("output " + place + ": added");
        continue;
      }
      const Rounding& old = output->second.at(dtype);
      if (old.values.shape() != rounding.values.shape()) {
        Compare("shape of " + place, Shape(old.values), Shape(rounding.values), change.reasons);
        continue;
      }
      ValueChange values{name, dtype, 0, static_cast<int64_t>(rounding.values.size()), 0, 0};
      for (size_t i = 0; i < rounding.values.size(); ++i) {
        if (rounding.values.Bits(i) != old.values.Bits(i)) {
          ++values.changed;
          values.farthest = std::max(values.farthest, Apart(old.values, rounding.values, i));
        }
        if (rounding.distances.size() > 0 && old.distances.size() > 0) {
          values.distances += rounding.distances.Bits(i) != old.distances.Bits(i) ? 1 : 0;
        }
      }
      if (values.changed + values.distances > 0) change.values.push_back(values);
      CompareProofs(place, old, rounding, change.reasons);
    }
  }
  for (const auto& [name, roundings] : before.outputs) {
    for (const auto& [dtype, rounding] : roundings) {
      const auto output = after.outputs.find(name);
      if (output != after.outputs.end() && output->second.contains(dtype)) continue;
      change.reasons.push_back(fmt::format("output {} {}: removed", name, Name(dtype)));
    }
  }
}

CaseChange Compared(const std::string& place, const Case& before, const Case& after) {
  CaseChange change{place, after.id, "changed", {}, {}};
  std::vector<std::string>& reasons = change.reasons;
  Compare("quantity", std::string(VariantName(before.quantity)),
          std::string(VariantName(after.quantity)), reasons);
  Compare("result", std::string(VariantName(before.result)), std::string(VariantName(after.result)),
          reasons);
  Compare("fault or dialect", before.fault, after.fault, reasons);
  Compare("departure", DepartureToJson(before.departure).dump(),
          DepartureToJson(after.departure).dump(), reasons);
  CompareInputs(before, after, reasons);
  CompareOutputs(before, after, change);
  if (before.comment != after.comment || before.cause != after.cause) {
    reasons.emplace_back("its text");
  }
  Compare("flags", fmt::format("{}", fmt::join(before.flags, ", ")),
          fmt::format("{}", fmt::join(after.flags, ", ")), reasons);
  return change;
}

void CompareManifests(const std::string& place, const Manifest& before, const Manifest& after,
                      std::vector<CaseChange>& changes) {
  CaseChange whole{place, "", "changed", {}, {}};
  CompareSchemes(before.scheme, after.scheme, whole.reasons);
  Compare("generator", before.generator + " " + before.version,
          after.generator + " " + after.version, whole.reasons);
  Compare("source", before.source, after.source, whole.reasons);
  if (before.comment != after.comment) whole.reasons.emplace_back("its text");
  if (before.notes != after.notes) whole.reasons.emplace_back("notes of its flags");
  if (!whole.reasons.empty()) changes.push_back(std::move(whole));
  for (const Case& now : after.cases) {
    const auto old = std::ranges::find(before.cases, now.id, &Case::id);
    if (old == before.cases.end()) {
      changes.push_back({place, now.id, "added", {}, {}});
      continue;
    }
    CaseChange change = Compared(place, *old, now);
    if (!change.reasons.empty() || !change.values.empty()) changes.push_back(std::move(change));
  }
  for (const Case& old : before.cases) {
    if (std::ranges::find(after.cases, old.id, &Case::id) == after.cases.end()) {
      changes.push_back({place, old.id, "removed", {}, {}});
    }
  }
}

}  // namespace

std::vector<CaseChange> DiffCorpora(const std::vector<PlacedManifest>& before,
                                    const std::vector<PlacedManifest>& after) {
  std::map<std::string, std::pair<const Manifest*, const Manifest*>> places;
  for (const PlacedManifest& placed : before) places[placed.place].first = &placed.manifest;
  for (const PlacedManifest& placed : after) places[placed.place].second = &placed.manifest;
  std::vector<CaseChange> changes;
  for (const auto& [place, both] : places) {
    const auto& [old, now] = both;
    if (old != nullptr && now != nullptr) {
      CompareManifests(place, *old, *now, changes);
    } else {
      changes.push_back({place, "", old == nullptr ? "added" : "removed", {}, {}});
    }
  }
  return changes;
}

std::vector<std::string> NewLines(const std::string& before, const std::string& after) {
  std::multiset<std::string> old;
  std::istringstream old_lines(before), new_lines(after);
  for (std::string line; std::getline(old_lines, line);) old.insert(line);
  std::vector<std::string> added;
  for (std::string line; std::getline(new_lines, line);) {
    const auto at = old.find(line);
    if (at != old.end()) {
      old.erase(at);
    } else if (!line.empty()) {
      added.push_back(line);
    }
  }
  return added;
}

}  // namespace posgauge::golden
