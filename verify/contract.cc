#include "posgauge/verify/contract.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "posgauge/verify/contract_presets.h"

namespace posgauge {

namespace {

// A word after the colon, if there is one.
struct Word {
  std::string_view head;
  std::optional<std::string_view> tail;
};

Word SplitColon(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool IsTurn(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::turn64 || arithmetic == Arithmetic::turn96;
}

// Only angles are turns. `more` are words that a key knows beside the arithmetics.
Arithmetic ParseArithmetic(std::string_view key, std::string_view text,
                           std::string_view more = "") {
  std::string allowed;
  const auto& names = kVariantNames<Arithmetic>;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto arithmetic = static_cast<Arithmetic>(i);
    if (IsTurn(arithmetic) && key != "angle") continue;
    if (names[i] == text) return arithmetic;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", names[i]);
  }
  throw ParameterError(
      fmt::format("contract: {} must be one of {}{}, got {}", key, more, allowed, Shown(text)));
}

double ParseUlps(std::string_view text) {
  double ulps = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ulps);
  Require(error == std::errc() && std::string_view(rest, end) == "ulp" && ulps >= 0 && ulps < 1e9,
          "contract: trig must be a number of ulps such as 1ulp:f32, got '{}'", text);
  return ulps;
}

void NoTail(std::string_view key, const Word& word) {
  Require(!word.tail, "contract: {} takes no ':{}'", key, word.tail.value_or(""));
}

void Set(Contract& contract, std::string_view key, std::string_view value) {
  const Word word = SplitColon(value);
  if (key == "position") {
    NoTail(key, word);
    // Integers of 32 and 64 bits hold every position that posgauge uses.
    const bool integer = word.head == "i32" || word.head == "i64";
    contract.position = integer ? Arithmetic::exact : ParseArithmetic(key, word.head, "i64, i32, ");
  } else if (key == "frequency") {
    contract.frequency = ParseArithmetic(key, word.head);
    if (word.tail) {
      contract.frequency_formula =
          ParseVariant<FrequencyFormula>("contract: frequency's formula", *word.tail);
    }
  } else if (key == "angle") {
    NoTail(key, word);
    contract.angle = ParseArithmetic(key, word.head);
  } else if (key == "trig") {
    contract.trig_ulps = ParseUlps(word.head);
    if (word.tail) contract.trig_arithmetic = ParseArithmetic(key, *word.tail);
    Require(contract.trig_ulps >= 0.5 || contract.trig_arithmetic == Arithmetic::exact,
            "contract: trig cannot be below 0.5ulp of {}, the error of its rounding, got {}ulp",
            VariantName(contract.trig_arithmetic), contract.trig_ulps);
  } else if (key == "table") {
    NoTail(key, word);
    contract.table = ParseArithmetic(key, word.head);
  } else if (key == "rotate") {
    contract.rotate = ParseArithmetic(key, word.head);
    Require(!word.tail || *word.tail == "fma", "contract: rotate takes ':fma' only, got ':{}'",
            word.tail.value_or(""));
    contract.fma = word.tail.has_value();
  } else if (key == "accumulate") {
    NoTail(key, word);
    contract.accumulate = ParseArithmetic(key, word.head);
  } else if (key == "store") {
    contract.store = ParseFloatDtype("contract: store", word.head);
    if (word.tail) {
      contract.store_rounding =
          ParseVariant<StoreRounding>("contract: store's rounding", *word.tail);
    }
  } else if (key == "flush") {
    Require(value == "yes" || value == "no", "contract: flush must be yes or no, got '{}'", value);
    contract.flush_to_zero = value == "yes";
  } else {
    throw ParameterError(fmt::format(
        "contract: unknown key '{}'; keys are position, frequency, angle, trig, table, rotate, "
        "accumulate, store, flush",
        key));
  }
}

}  // namespace

Contract Contract::Default(Dtype io) {
  Contract contract;
  contract.store = io;
  if (io == Dtype::f64) {
    contract.trig_arithmetic = contract.table = contract.rotate = contract.accumulate =
        Arithmetic::f64;
  }
  return contract;
}

Contract Contract::Parse(std::string_view line, Dtype io) {
  Contract contract{.position = Arithmetic::bf16,
                    .frequency = Arithmetic::bf16,
                    .frequency_formula = FrequencyFormula::recurrence,
                    .angle = Arithmetic::bf16,
                    .trig_ulps = 4,
                    .trig_arithmetic = Arithmetic::bf16,
                    .table = Arithmetic::bf16,
                    .rotate = Arithmetic::bf16,
                    .fma = false,
                    .accumulate = Arithmetic::bf16,
                    .store = io,
                    .store_rounding = StoreRounding::sr,
                    .flush_to_zero = true};
  std::istringstream words{std::string(line)};
  std::set<std::string> seen;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      Require(seen.empty(), "contract: a preset comes first, got '{}' after other words", word);
      contract = Parse(PresetLine(word, io), io);
      seen.insert("");
      continue;
    }
    const std::string key = word.substr(0, equals);
    Require(seen.insert(key).second, "contract: '{}' is given twice", key);
    Set(contract, key, std::string_view(word).substr(equals + 1));
  }
  return contract;
}

std::string Contract::Text() const {
  return fmt::format(
      "position={} frequency={}:{} angle={} trig={}ulp:{} table={} rotate={}{} accumulate={} "
      "store={}:{} flush={}",
      VariantName(position), VariantName(frequency), VariantName(frequency_formula),
      VariantName(angle), trig_ulps, VariantName(trig_arithmetic), VariantName(table),
      VariantName(rotate), fma ? ":fma" : "", VariantName(accumulate), Name(store),
      VariantName(store_rounding), flush_to_zero ? "yes" : "no");
}

std::string Contract::AttentionText() const {
  return fmt::format(
      "position={} frequency={}:{} angle={} trig={}ulp:{} rotate={} accumulate={} store={}:{} "
      "flush={}",
      VariantName(position), VariantName(frequency), VariantName(frequency_formula),
      VariantName(angle), trig_ulps, VariantName(trig_arithmetic), VariantName(rotate),
      VariantName(accumulate), Name(store), VariantName(store_rounding),
      flush_to_zero ? "yes" : "no");
}

double UnitRoundoff(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::exact:
    case Arithmetic::turn64:
    case Arithmetic::turn96:
      return 0;
    case Arithmetic::dd:
      // 106 bits, less the few that sloppy sums and a logarithm lose.
      return 0x1p-90;
    default:
      return std::ldexp(1.0, -FormatOf(arithmetic).digits);
  }
}

double UnderflowError(Arithmetic arithmetic, bool flush_to_zero) {
  switch (arithmetic) {
    case Arithmetic::exact:
    case Arithmetic::turn64:
    case Arithmetic::turn96:
      return 0;
    default: {
      const Format format = FormatOf(arithmetic);
      if (flush_to_zero) return std::ldexp(1.0, format.min_exponent);
      // Half of 2^-1074 is no binary64 number; the whole of it is a bound too.
      return std::max(std::ldexp(1.0, format.min_quantum() - 1), 0x1p-1074);
    }
  }
}

double LargestFinite(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::exact) return HUGE_VAL;
  return Largest(FormatOf(arithmetic));
}

Format FormatOf(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f64:
      return FormatOf(Dtype::f64);
    case Arithmetic::f32:
      return FormatOf(Dtype::f32);
    case Arithmetic::f16:
      return FormatOf(Dtype::f16);
    case Arithmetic::bf16:
      return FormatOf(Dtype::bf16);
    case Arithmetic::f8e4m3:
      return FormatOf(Dtype::f8e4m3);
    case Arithmetic::f8e5m2:
      return FormatOf(Dtype::f8e5m2);
    case Arithmetic::exact:
    case Arithmetic::turn64:
    case Arithmetic::turn96:
    case Arithmetic::dd:
      break;
  }
  return FormatOf(Dtype::f64);
}

bool Holds(Arithmetic outer, Arithmetic inner) {
  if (outer == inner || outer == Arithmetic::exact) return true;
  if (inner == Arithmetic::exact || inner == Arithmetic::dd) return false;
  // A pair of doubles holds every double.
  const Format wide = FormatOf(outer), narrow = FormatOf(inner);
  return wide.digits >= narrow.digits && Largest(wide) >= Largest(narrow) &&
         wide.min_quantum() <= narrow.min_quantum();
}

int Digits(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::exact) return INT32_MAX;
  return arithmetic == Arithmetic::dd ? 90 : FormatOf(arithmetic).digits;
}

Arithmetic ArithmeticOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return Arithmetic::f64;
    case Dtype::f32:
      return Arithmetic::f32;
    case Dtype::bf16:
      return Arithmetic::bf16;
    case Dtype::f16:
      return Arithmetic::f16;
    case Dtype::f8e4m3:
      return Arithmetic::f8e4m3;
    case Dtype::f8e5m2:
      return Arithmetic::f8e5m2;
    default:
      return Arithmetic::exact;
  }
}

}  // namespace posgauge
