#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/reference/proof.h"
#include "posgauge/schemes/base/channel.h"
#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// Rows with every entry enclosed: |high + low - real value| <= radius. [positions, width].
struct EnclosedRows {
  std::vector<DoubleDouble> values;
  double radius = 0;
};

/// The rows that a scheme adds to embeddings, as real numbers, rounded once to nearest even with
/// the evidence. What is 0 or 1 by definition (the angle 0, a channel or a row of zeros) is exact.
/// Immutable; safe to share between threads.
///
/// Position plus start must be a binary64 number: ParameterError otherwise.
class ExactAddition {
 public:
  /// From the scheme's equations. Throws ParameterError for a scheme that adds no rows.
  explicit ExactAddition(const Scheme& scheme);

  /// The same with given frequencies (radians per token, [waves]), taken as exact numbers. Throws
  /// ParameterError on a wrong count.
  ExactAddition(const Scheme& scheme, std::span<const DoubleDouble> frequencies);

  int64_t width() const;

  /// The waves alone, a pair each, at row indices.
  const ExactRotation& waves() const;

  /// What a channel holds; in the row of an all-zero index every channel holds zero.
  Channel ChannelAt(double position, int64_t channel) const;

  /// Position plus start, exactly. Throws ParameterError if it is not finite or no binary64 number.
  double RowIndex(double position) const;

  /// Radians per token, [waves].
  RoundedValues Frequencies(Dtype dtype) const;

  /// [positions, width].
  RoundedValues Rows(Positions positions, Dtype dtype) const;

  /// x plus its rows; x and the result [positions, width]. A NaN or an infinity stays what it is;
  /// a sum that is exactly zero is +0.
  RoundedValues Embed(Positions positions, std::span<const double> x, Dtype dtype) const;

  /// For measuring errors: enclosures instead of roundings.
  EnclosedValues EncloseFrequencies() const;
  EnclosedRows EncloseRows(Positions positions) const;

 private:
  struct Meaning;
  std::shared_ptr<const Meaning> meaning_;
};

}  // namespace posgauge
