#include "posgauge/properties/window_laws.h"

#include <algorithm>
#include <set>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/comparisons.h"
#include "posgauge/verify/random.h"

namespace posgauge {

namespace {

Window WindowOf(const Scheme& scheme) {
  return std::visit(
      [](const auto& params) -> Window {
        if constexpr (requires { params.window.Tokens(); }) return params.window;
        throw ParameterError("a law of schemes with a window");
      },
      scheme);
}

Verdict CheckTranslation(const Subject& subject, const LawCase& c) {
  const Window window = WindowOf(subject.scheme());
  if (window.Tokens() == 1) throw Unsupported("the window has one token");
  const auto h = static_cast<uint64_t>(window.h), w = static_cast<uint64_t>(window.w);
  auto rows = static_cast<int64_t>(c.seed % h), columns = static_cast<int64_t>(c.seed / h % w);
  if (rows == 0 && columns == 0) (window.w > 1 ? columns : rows) = 1;
  const Window smaller{.h = window.h - rows, .w = window.w - columns};
  std::vector<double> tokens, moved;
  for (double token : SomeTokens(smaller, 12, c.seed)) {
    const auto at = static_cast<int64_t>(token);
    const int64_t y = at / smaller.w, x = at % smaller.w;
    tokens.push_back(static_cast<double>(y * window.w + x));
    moved.push_back(static_cast<double>((y + rows) * window.w + x + columns));
  }
  const NamedInputs inputs = InputsOf(subject, c);
  const EquationAnswer before(subject, AmongTokens(inputs, tokens));
  const EquationAnswer after(subject, AmongTokens(inputs, moved));
  Comparisons comparisons;
  CompareAll(comparisons, after, before);
  return comparisons.Take();
}

}  // namespace

Law WindowTranslationLaw() {
  return {"window_translation",
          "moving two tokens by as many rows and columns within the window changes nothing",
          "buckets bias", false, CheckTranslation};
}

std::vector<double> SomeTokens(const Window& window, size_t most, uint64_t seed) {
  const auto count = static_cast<uint64_t>(window.Tokens());
  Random random(seed, "tokens");
  std::set<double> tokens = {0, static_cast<double>(count - 1)};
  for (size_t i = 0; tokens.size() < std::min<uint64_t>(most, count) && i < 8 * most; ++i) {
    tokens.insert(static_cast<double>(random.Below(count)));
  }
  return {tokens.begin(), tokens.end()};
}

NamedInputs AmongTokens(const NamedInputs& inputs, const std::vector<double>& tokens) {
  NamedInputs among = inputs;
  for (const char* name : {"q", "k", "v"}) among.tensors.erase(name);
  for (const char* name : {"query_positions", "key_positions"}) {
    among.tensors[name] = {{static_cast<int64_t>(tokens.size())}, tokens};
  }
  return among;
}

}  // namespace posgauge
