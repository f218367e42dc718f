#include "posgauge/cli/minimal_program.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "posgauge/cli/minimal_program_text.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/hex_float.h"
#include "posgauge/verify/kernel.h"

namespace posgauge::cli {

namespace {

constexpr size_t kMostElements = 256;  // of an output that are held to something

// As C++ reads it back; names from a library may hold anything.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// For a comment of one line, which a backslash at its end would continue.
std::string Commented(const std::string& text) {
  std::string line = Printable(text);
  std::ranges::replace(line, '\\', '/');
  return line;
}

std::string ValuesText(const std::vector<Named>& tensors, const std::string& name) {
  std::string text = fmt::format("const std::vector<Values> {} = {{\n", name);
  for (const Named& named : tensors) {
    text += fmt::format("    {{{}, {}, {{{}}}, {{", Quoted(named.name), Name(named.tensor.dtype()),
                        fmt::join(named.tensor.shape(), ", "));
    for (size_t i = 0; i < named.tensor.size(); ++i) {
      text += fmt::format("{}0x{:0{}x}",
                          i == 0       ? ""
                          : i % 6 == 0 ? ",\n     "
                                       : ", ",
                          named.tensor.Bits(i), 2 * SizeOf(named.tensor.dtype()));
    }
    text += "}},\n";
  }
  return text + "};\n";
}

// Sizes as this posgauge knows the structs: a program of another layout does not compile.
std::string SizesText() {
  std::string text;
  for (const auto& [name, size] : {std::pair("DLTensor", sizeof(DLTensor)),
                                   {"posgauge_scalar", sizeof(posgauge_scalar)},
                                   {"posgauge_tensor", sizeof(posgauge_tensor)},
                                   {"posgauge_call", sizeof(posgauge_call)},
                                   {"posgauge_kernel", sizeof(posgauge_kernel)}}) {
    text += fmt::format("static_assert(sizeof({}) == {});\n", name, size);
  }
  return text + "\n";
}

}  // namespace

std::optional<std::string> MinimalProgram(const JudgedCase& judged, const MinimalCase& minimal,
                                          const JudgedBy& judged_by, const std::string& title) {
  const std::vector<Named> exact = judged.Exact();
  const auto accepted = AcceptedValues(judged, judged_by.budget, judged_by.spacings, kMostElements);
  const std::vector<AcceptedSum> sums = exact.front().tensor.size() <= kMostElements
                                            ? AcceptedSums(judged)
                                            : std::vector<AcceptedSum>{};
  if (!minimal.failure) {
    const bool shows = !sums.empty() ||
                       (accepted && std::ranges::any_of(*accepted, [&](const AcceptedValue& value) {
                          const Tensor& got = minimal.answer[value.output].tensor;
                          const int64_t order = OrderOf(got.dtype(), got.Bits(value.index));
                          return order < value.lowest || order > value.highest;
                        }));
    if (!shows) return std::nullopt;
  }
  const Subject& subject = judged.subject();
  std::vector<Named> inputs = judged.Inputs();
  for (const auto& [name, values] : ListsOf(subject.scheme())) {
    inputs.push_back(
        {name, Tensor::FromValues(Dtype::f64, {static_cast<int64_t>(values.size())}, values)});
  }
  std::string text = fmt::format("// {}\n", Commented(title));
  text += fmt::format("// {}\n", Commented(minimal.text));
  if (minimal.witness) {
    text += fmt::format("// {}: got {}, exact {}\n", Commented(minimal.witness->where),
                        Commented(minimal.witness->got), Commented(minimal.witness->want));
  }
  text +=
      "//\n// g++ -std=c++20 THIS_FILE -ldl && ./a.out LIBRARY; exits with 1 while it fails, 0 "
      "when "
      "it holds.\n";
  text += kProgramStructs;
  text += SizesText();
  text += fmt::format("constexpr uint32_t kAbiVersion = {};\n", POSGAUGE_ABI_VERSION);
  text += fmt::format("const char* const kKernel = {};\n", Quoted(subject.info().name));
  text +=
      fmt::format("const char* const kScheme = {};\n", Quoted(std::string(Name(subject.scheme()))));
  text += "const std::vector<posgauge_scalar> kScalars = {\n";
  for (const auto& [name, value] : ScalarsOf(subject.scheme())) {
    text += fmt::format("    {{{}, {}}},\n", Quoted(name), HexFloat(value));
  }
  text += "};\n";
  text += ValuesText(inputs, "kInputs");
  text += "// Proven, rounded to nearest.\n" + ValuesText(exact, "kOutputs");
  text +=
      fmt::format("// What {} allows.\nconst std::vector<Accepted> kAccepted = {{\n",
                  judged_by.budget ? fmt::format("a budget of {:g} spacings", judged_by.spacings)
                                   : "the contract " + Commented(subject.info().ContractText()));
  if (accepted) {
    for (const AcceptedValue& value : *accepted) {
      const Dtype dtype = exact[value.output].tensor.dtype();
      text += fmt::format("    {{{}, {}, 0x{:x}, 0x{:x}}},\n", value.output, value.index,
                          BitsAt(dtype, value.lowest), BitsAt(dtype, value.highest));
    }
  }
  text += "};\nconst std::vector<Sum> kSums = {\n";
  for (const AcceptedSum& sum : sums) {
    text += fmt::format("    {{{}, {}, {}}},\n", HexFloat(sum.high), HexFloat(sum.low),
                        HexFloat(sum.allowed));
  }
  text += "};\n";
  text += kProgramMain;
  return text;
}

}  // namespace posgauge::cli
