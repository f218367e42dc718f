#pragma once

#include <string>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/effective.h"

namespace posgauge {

/// What a framework would use that reads a config in one way.
struct Reading {
  Scheme scheme;
  std::string difference = {};  // from what the config means: "base 10000 in use, ... 500000"
  std::vector<double> frequencies = {};  // of a rotation: rounded to binary64, [pairs]
  // How far off, relatively, frequencies may be that a framework forms in the arithmetic, [pairs].
  std::vector<double> errors = {};
  double magnitude = 1, softmax_multiplier = 1;
  std::vector<double> slopes = {};  // of alibi, [heads]
  bool is_scheme = true;            // whether all of it follows from the scheme
};

/// What the scheme means, proven, for frameworks that form frequencies in `arithmetic` (f32 or
/// f64). Throws ParameterError for an invalid scheme.
Reading ReadingOf(const Scheme& scheme, Arithmetic arithmetic);

/// How numbers agree with what a reading means: not; within the arithmetic's own error; or as those
/// numbers rounded to a narrower format.
enum class Fit { no, yes, as_f16, as_bf16 };

/// A field of Effective that says something, by its name in files.
using EffectiveField = std::string;

/// The fields that are said.
std::vector<EffectiveField> FieldsSaid(const Effective& effective);

/// What can be said of a scheme.
std::vector<EffectiveField> FieldsOf(const Scheme& scheme);

/// Whether what is said in a field is what the reading means.
Fit FitOf(const EffectiveField& field, const Effective& effective, const Reading& reading);

/// f32 where every frequency said is one of its numbers, as in most frameworks, else f64.
Arithmetic ArithmeticBehind(const Effective& effective);

}  // namespace posgauge
