#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/identify/answers.h"
#include "posgauge/verify/identify/seen_rotation.h"

namespace posgauge {

/// What a kernel or a dump computes, as far as its output tells.
struct Identity {
  std::string source, quantity;
  /// Every scheme and parameter set found that yields what was seen, simplest first. No output up
  /// to the largest position that was seen tells them apart. Empty: nothing known fits.
  std::vector<Scheme> schemes;
  std::vector<std::pair<std::string, std::string>> facts;  // by name
  std::string contract;                   // words of a contract line; empty where nothing shows
  std::vector<std::string> undetermined;  // one line each
  std::string why_not;                    // where nothing fits
};

/// Never forces a name: what no scheme's reference gives is left without one.
Identity Identify(const Answers& answers);

// By kind; Identify chooses.
Identity IdentifyRotation(const Answers& answers);
Identity IdentifyWaves(const Answers& answers);    // rows of sines and cosines
Identity IdentifySlopes(const Answers& answers);   // slopes, or biases that are alibi's
Identity IdentifyBuckets(const Answers& answers);  // buckets, or biases that are t5's

/// The narrowest dtype that all frequencies are numbers of, as far as they are known; nothing where
/// they are not known well enough.
std::optional<Dtype> HeldDtype(const SeenFrequencies& seen);

/// Relative errors with which frequencies may have been formed: none; in f32, at most 8 units (a
/// power of an exponent up to 16); where they are numbers of a narrower dtype, in that.
std::vector<double> RoundoffsOf(const SeenFrequencies& seen);

/// Words of a contract line that reproduce a rotation's frequencies and angles.
std::string ContractOf(const Answers& answers, const SeenRotation& seen, const Scheme& scheme,
                       std::vector<std::string>* undetermined);

}  // namespace posgauge
