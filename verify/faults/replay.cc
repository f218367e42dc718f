#include "posgauge/verify/faults/replay.h"

#include <algorithm>
#include <cmath>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/faults/equation_changes.h"
#include "posgauge/verify/faults/replay_series.h"

namespace posgauge {

namespace {

// The scheme as the kernel understands it; nothing where that is not one.
std::optional<Scheme> Understood(const Question& question, Staged& staged) {
  Scheme scheme = question.scheme;
  staged.At<ChangeParameters>([&](const ChangeParameters& change) {
    Scheme changed = scheme;
    if (!change.change(changed) || changed == scheme) return false;
    scheme = std::move(changed);
    return true;
  });
  try {
    Validate(scheme);
  } catch (const ParameterError&) {
    return std::nullopt;
  }
  // The tensors stay as they are.
  if (IsRotary(scheme)) {
    const Rotary &was = RotaryOf(question.scheme), &now = RotaryOf(scheme);
    const bool widths = now.head_dim == was.head_dim &&
                        (question.quantity.starts_with("rotate") || now.Pairs() == was.Pairs()) &&
                        (question.inputs.Find("cos") == nullptr || now.Pairs() == was.Pairs());
    if (!widths || AxesOf(scheme).count != AxesOf(question.scheme).count) return std::nullopt;
  } else if (!ActsInAttention(scheme) && WidthOf(scheme) != WidthOf(question.scheme)) {
    return std::nullopt;
  }
  return scheme;
}

FrequencySeries SeriesFor(const Question& question, const Scheme& scheme, Staged& staged,
                          const LibraryNoise& noise) {
  FrequencySeries series;
  if (const ExactTensor* given = question.inputs.Find("frequency")) {
    series.frequency = given->values;
    series.magnitude = question.inputs.Find("magnitude") != nullptr
                           ? question.inputs["magnitude"].At(0)
                           : SeriesOf(scheme).magnitude;
    return series;
  }
  series = SeriesOf(scheme);
  staged.At<ChangeFrequencies>(
      [&](const ChangeFrequencies& change) { return change.change(scheme, series); });
  for (size_t i = 0; i < series.frequency.size(); ++i) {
    series.frequency[i] *= Noisy(noise, i, 1);
  }
  return series;
}

void ChangeTheResult(const Question& question, Staged& staged, std::vector<double>& values) {
  staged.At<ChangeResult>(
      [&](const ChangeResult& change) { return change.change(question, values); });
}

NamedInputs InputsOf(const Question& question, const Scheme& scheme, Staged& staged) {
  NamedInputs inputs = question.inputs;
  staged.At<ChangeInputs>(
      [&](const ChangeInputs& change) { return change.change(scheme, inputs); });
  return inputs;
}

std::array<double, 2> TurnHonestly(const TurnPlace& at) {
  return {at.u * at.entry.cos - at.v * at.entry.sin, at.u * at.entry.sin + at.v * at.entry.cos};
}

// A rotation of x, its table, or its frequencies.
std::vector<double> ReplayRotation(const Question& question, const Scheme& scheme, Staged& staged,
                                   const LibraryNoise& noise) {
  if (question.quantity == "frequencies") {
    FrequencySeries series = SeriesFor(question, scheme, staged, noise);
    series.frequency.push_back(series.magnitude);
    return series.frequency;
  }
  const NamedInputs inputs = InputsOf(question, scheme, staged);
  const ExactTensor* given = inputs.Find("cos");
  const Rotary& layout = RotaryOf(scheme);
  const auto pairs = static_cast<size_t>(layout.Pairs());
  const Axes axes = AxesOf(scheme);
  FrequencySeries series;
  std::vector<double> positions;
  if (given == nullptr) {
    series = SeriesFor(question, scheme, staged, noise);
    positions = PositionsOf(inputs["positions"], staged);
  }
  const size_t tokens = given != nullptr ? static_cast<size_t>(given->shape[0])
                                         : static_cast<size_t>(inputs["positions"].shape[0]);
  const bool backward = question.quantity == "rotate_backward";
  std::optional<EntryMaker> make;
  if (given == nullptr) make.emplace(staged, noise);
  std::vector<TableEntry> table;
  for (size_t token = 0; token < tokens; ++token) {
    for (size_t pair = 0; pair < pairs; ++pair) {
      if (given != nullptr) {
        const size_t at = token * pairs + pair;
        const double sin = inputs["sin"].values[at];
        table.push_back({given->values[at], backward ? -sin : sin});
        continue;
      }
      const double position = axes.At(positions, token, static_cast<int64_t>(pair));
      table.push_back((*make)({.token = token,
                               .pair = pair,
                               .pairs = pairs,
                               .position = position,
                               .frequency = series.frequency[pair],
                               .magnitude = series.magnitude,
                               .backward = backward}));
    }
  }
  std::vector<double> values;
  if (question.quantity == "table") {
    for (const TableEntry& entry : table) values.push_back(entry.cos);
    for (const TableEntry& entry : table) values.push_back(entry.sin);
    return values;
  }
  const std::vector<const ChangeTurn*> turns = staged.Take<ChangeTurn>();
  const ExactTensor& x = inputs["x"];
  values = x.values;
  const auto head_dim = static_cast<size_t>(layout.head_dim);
  const size_t heads = static_cast<size_t>(x.shape[1]);
  for (size_t token = 0; token < tokens; ++token) {
    for (size_t head = 0; head < heads; ++head) {
      const size_t start = (token * heads + head) * head_dim;
      for (size_t pair = 0; pair < pairs; ++pair) {
        const auto [first, second] = layout.Channels(static_cast<int64_t>(pair));
        const size_t beside = (pair + 1) % pairs;
        const size_t next =
            static_cast<size_t>(layout.Channels(static_cast<int64_t>(beside))[1]) + start;
        const size_t u = start + static_cast<size_t>(first),
                     v = start + static_cast<size_t>(second);
        const TurnPlace at{x.values[u], x.values[v], x.values[next], table[token * pairs + pair]};
        const auto [a, b] = turns.empty() ? TurnHonestly(at) : turns.back()->change(at);
        values[u] = a;
        values[v] = b;
      }
    }
  }
  return values;
}

// Added rows of waves, or x with them added.
std::vector<double> ReplayWaves(const Question& question, const Scheme& scheme, Staged& staged,
                                const LibraryNoise& noise) {
  if (question.quantity == "frequencies") {
    FrequencySeries series = SeriesFor(question, scheme, staged, noise);
    series.frequency.push_back(1);
    return series.frequency;
  }
  const NamedInputs inputs = InputsOf(question, scheme, staged);
  const auto& params = std::get<sinusoidal::Params>(scheme);
  const auto width = static_cast<size_t>(params.width);
  std::vector<double> values;
  if (const ExactTensor* given = inputs.Find("rows")) {
    values = given->values;
  } else {
    const FrequencySeries series = SeriesFor(question, scheme, staged, noise);
    const std::vector<double> positions = PositionsOf(inputs["positions"], staged);
    const EntryMaker make(staged, noise);
    const size_t waves = series.frequency.size();
    for (size_t token = 0; token < positions.size(); ++token) {
      const double index = positions[token] + static_cast<double>(params.start);
      std::vector<TableEntry> entries;
      for (size_t wave = 0; wave < waves; ++wave) {
        entries.push_back(make({.token = token,
                                .pair = wave,
                                .pairs = waves,
                                .position = index,
                                .frequency = series.frequency[wave]}));
      }
      const bool padding =
          params.padding_index && index == static_cast<double>(*params.padding_index);
      for (size_t c = 0; c < width; ++c) {
        const Channel held = params.ChannelAt(static_cast<int64_t>(c));
        const TableEntry entry =
            held.function == Wave::zero ? TableEntry{} : entries[static_cast<size_t>(held.wave)];
        values.push_back(padding || held.function == Wave::zero ? 0
                         : held.function == Wave::sin           ? entry.sin
                                                                : entry.cos);
      }
    }
  }
  if (question.quantity != "embed") return values;
  for (size_t i = 0; i < values.size(); ++i) values[i] += inputs["x"].values[i];
  return values;
}

// What is given by equations. Noise has no place in them.
std::optional<std::vector<double>> ReplayEquations(const Question& question, const Scheme& scheme,
                                                   Staged& staged) {
  NamedInputs inputs = InputsOf(question, scheme, staged);
  std::vector<const ChangePosition*> changes;
  if (question.quantity != "slopes") changes = staged.Take<ChangePosition>();
  for (const char* name : {"query_positions", "key_positions", "positions"}) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end()) continue;
    const std::vector<double> before = found->second.values;
    for (size_t i = 0; i < before.size(); ++i) {
      for (const ChangePosition* change : changes) {
        found->second.values[i] = change->change(found->second.values[i], {i, 0, before.front()});
      }
    }
  }
  const Question changed{scheme, question.quantity, inputs, question.shape};
  std::vector<double> values;  // of one fault at most: two of them do not compose
  staged.At<ChangeElement>([&](const ChangeElement& change) {
    return values.empty() && ElementValues(change, changed, values);
  });
  staged.At<ChangeEvaluation>([&](const ChangeEvaluation& change) {
    return values.empty() && change.change(changed, values);
  });
  if (values.empty()) {
    const auto quantity = ParseVariant<EquationQuantity>("quantity", question.quantity);
    if (ExactEquations(scheme).CheckInputs(quantity, inputs) != question.shape) return std::nullopt;
    values = EquationValues(scheme, question.quantity, inputs, question.shape);
  }
  return values;
}

}  // namespace

std::string_view StageOf(const Fault& fault) {
  constexpr std::array<std::string_view, std::variant_size_v<Change>> kNames = {
      "parameters", "frequency", "position", "angle",    "table",
      "rotation",   "inputs",    "equation", "equation", "result"};
  return kNames[fault.change.index()];
}

std::optional<std::vector<double>> Replay(const Question& question,
                                          std::span<const Fault* const> faults,
                                          const LibraryNoise& noise) {
  Staged staged(faults);
  const std::optional<Scheme> scheme = Understood(question, staged);
  if (!scheme) return std::nullopt;
  std::vector<double> values;
  try {
    if (IsRotary(*scheme)) {
      const Question changed{*scheme, question.quantity, question.inputs, question.shape};
      staged.At<ChangeEvaluation>([&](const ChangeEvaluation& change) {
        return values.empty() && change.change(changed, values);
      });
      if (values.empty()) values = ReplayRotation(question, *scheme, staged, noise);
    } else if (!HasEquations(*scheme)) {
      values = ReplayWaves(question, *scheme, staged, noise);
    } else {
      std::optional<std::vector<double>> replayed = ReplayEquations(question, *scheme, staged);
      if (!replayed) return std::nullopt;
      values = *std::move(replayed);
    }
  } catch (const ParameterError&) {
    return std::nullopt;  // what a change made of the call is none
  }
  ChangeTheResult(question, staged, values);
  if (!staged.AllActed()) return std::nullopt;
  return values;
}

}  // namespace posgauge
