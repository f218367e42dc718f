#include "posgauge/properties/learned.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::learned {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// The row of the table that a position reads; nothing where it is zeros.
std::optional<int64_t> RowAt(const Params& params, double position) {
  const double row = position + static_cast<double>(params.offset);
  if (row >= static_cast<double>(params.rows)) return std::nullopt;
  if (params.padding_index && row == static_cast<double>(*params.padding_index)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(row);
}

// Numbers are moved, not computed. The table holds numbers of the kernel's dtype.
Verdict CheckGather(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer answer(subject, InputsOf(subject, c));
  const ExactTensor& table = answer.inputs["table"];
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const std::optional<int64_t> row = RowAt(params, answer.QueryPosition(place));
    const double want = row ? table.At(*row, place.last) : 0, got = answer.Value(place);
    const bool holds = got == want && std::signbit(got) == std::signbit(want);
    comparisons.AddExact(answer.QueryPosition(place), holds, [&] {
      return Witness{.where = answer.Text(place) +
                              (row ? fmt::format(", row {} of the table", *row) : ", zeros"),
                     .got = HexFloat(got),
                     .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

Verdict CheckUnread(const Subject& subject, const LawCase& c) {
  const EquationAnswer clean(subject, InputsOf(subject, c));
  NamedInputs poisoned = clean.inputs;
  std::vector<bool> read(static_cast<size_t>(ParamsOf(subject).rows));
  for (double position : clean.inputs["positions"].values) {
    if (const auto row = RowAt(ParamsOf(subject), position)) read[static_cast<size_t>(*row)] = true;
  }
  ExactTensor& table = poisoned.tensors.find("table")->second;
  for (size_t i = 0; i < table.values.size(); ++i) {
    if (!read[i / static_cast<size_t>(table.shape[1])]) table.values[i] = std::nan("");
  }
  const Tensor out = subject.Evaluate(poisoned);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(clean.quantity, out.shape())) {
    const size_t i = clean.Index(place);
    comparisons.AddExact(clean.QueryPosition(place), out.Bits(i) == clean.out.Bits(i), [&] {
      return Witness{.where = clean.Text(place) + ", with NaN in the rows that nothing asks for",
                     .got = HexFloat(out.Value(i)),
                     .want = HexFloat(clean.Value(place))};
    });
  }
  return comparisons.Take();
}

// One row beyond either end of the table.
Verdict CheckRefusal(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  NamedInputs inputs = WithPositions(InputsOf(subject, c), {0});
  std::vector<double> beyond = {static_cast<double>(-params.offset - 1)};
  if (params.beyond == Beyond::refuse) {
    beyond.push_back(static_cast<double>(params.rows - params.offset));
  }
  Comparisons comparisons;
  for (double position : beyond) {
    inputs.tensors.find("positions")->second.values = {position};
    bool refused = false;
    try {
      subject.Evaluate(inputs);
    } catch (const Unsupported&) {
      refused = true;
    } catch (const KernelFailure& failure) {
      if (failure.failure() != Failure::answered) throw;
      refused = true;
    }
    comparisons.AddExact(position, refused, [&] {
      return Witness{.where = fmt::format("a position that has no row of {}", params.rows),
                     .got = "a row",
                     .want = "an error"};
    });
  }
  return comparisons.Take();
}

// The row of padding, for an x and a table of any kind.
Verdict CheckPadding(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  NamedInputs inputs = WithPositions(InputsOf(subject, c), {0});
  const auto position = static_cast<double>(*params.padding_index - params.offset);
  inputs.tensors.find("positions")->second.values = {position};
  const EquationAnswer answer(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double want =
        answer.quantity == EquationQuantity::embed ? inputs["x"].At(0, place.last) : 0;
    comparisons.AddExact(position, answer.Value(place) == want, [&] {
      return Witness{.where = answer.Text(place),
                     .got = HexFloat(answer.Value(place)),
                     .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"gather", "a row is the table's at position + offset, bit for bit", "table", false,
       CheckGather},
      {"unread_rows", "rows that nothing asks for may hold NaN", "table embed", false, CheckUnread},
      {"refusal", "a position without a row is refused", "table embed", false, CheckRefusal},
  };
  if (params.padding_index) {
    laws.push_back({"padding", "the padding row is zeros and leaves x as it is", "table embed",
                    false, CheckPadding});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](int64_t width, int64_t positions, int64_t offset, int64_t padding,
                       Beyond beyond) {
    Params params{.width = width, .rows = positions + offset, .offset = offset, .beyond = beyond};
    if (padding > 0) params.padding_index = std::min(padding - 1, params.rows - 1);
    return params;
  };
  return rc::gen::apply(make, rc::gen::element<int64_t>(4, 1, 3, 16, 33, 64),
                        rc::gen::inRange<int64_t>(1, 60), rc::gen::inRange<int64_t>(0, 4),
                        rc::gen::inRange<int64_t>(0, 5),
                        rc::gen::element(Beyond::refuse, Beyond::zero));
}

}  // namespace posgauge::learned
