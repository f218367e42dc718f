// The faults of schemes other than rotations: each acts and shows somewhere, no two are the same,
// and those that have a kernel in the tests do what the kernel does.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/verify/equation_bound.h"
#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/replay.h"
#include "posgauge/verify/subject.h"

namespace posgauge {
namespace {

using Settings = std::vector<std::string>;

// Every scheme small, with the switches that faults need.
const std::vector<std::pair<std::string, Settings>> kSchemes = {
    {"none", {}},
    {"none", {"temperature_floor_scale=300", "temperature_scale=0.5"}},
    {"none", {"temperature_floor_scale=1", "temperature_scale=0.25"}},
    {"alibi", {"heads=20"}},
    {"alibi", {"form=key"}},
    {"alibi", {"form=key_from_last"}},
    {"alibi", {"form=symmetric", "causal=false"}},
    {"alibi", {"causal=false"}},
    {"alibi", {"total_heads=8", "first_head=4"}},
    {"t5", {}},
    {"t5", {"bidirectional=false", "causal=true"}},
    {"t5", {"bidirectional=false", "scale=inverse_sqrt"}},
    {"kerple", {}},
    {"kerple", {"kernel=power", "weighted=true", "causal=false"}},
    {"fire", {"mlp_width=4"}},
    {"fire", {"mlp_width=4", "epsilon=0.125", "causal=false"}},
    {"sandwich", {"sandwich_width=8"}},
    {"shaw", {"clip=4", "causal=false"}},
    {"shaw", {"clip=4", "per_head=true", "index=query_minus_key"}},
    {"transformer_xl", {"model_width=8", "causal=false"}},
    {"transformer_xl", {"model_width=8", "clamp_length=5"}},
    {"cope", {"num_positions=4"}},
    {"cope", {"num_positions=4", "causal=false", "placement=before_scale"}},
    {"deberta", {"position_buckets=8", "max_position=33"}},
    {"deberta", {"position_buckets=8", "max_position=33", "p2c_index=reversed"}},
    {"swin", {"window_h=3", "window_w=4"}},
    {"swin2", {"window_h=3", "window_w=5", "mlp_width=3"}},
    {"swin2", {"window_h=3", "window_w=5", "mlp_width=3", "pretrained_h=6", "pretrained_w=7"}},
    {"xpos", {"rotary_dim=4", "scale_base=64"}},
    {"xpos", {"rotary_dim=6", "scale_base=64", "causal=false"}},
    {"rerope", {"window=3"}},
    {"rerope", {"window=3", "trained_length=64"}},
    {"dual_chunk", {"chunk_size=20", "local_size=4"}},
    {"mixed", {"window_h=3", "window_w=5"}},
    {"sinusoidal", {"width=8"}},
    {"sinusoidal", {"width=8", "layout=halves", "start=3", "padding_index=5"}},
    {"sinusoidal", {"width=7", "layout=halves", "odd_width=zero", "frequency_shift=1"}},
    {"sinusoidal", {"width=7", "odd_width=extra_sine", "start=-2"}},
    {"sinusoidal", {"width=7", "layout=halves", "odd_width=extra_sine"}},
    {"learned", {"width=4", "rows=60", "offset=2", "padding_index=4"}},
    {"learned", {"width=4", "rows=9", "beyond=zero", "offset=1"}},
    {"resampled", {"width=4", "grid_h=3", "grid_w=4", "target_h=5", "target_w=6"}},
    {"resampled",
     {"width=4", "grid_h=6", "grid_w=5", "target_h=4", "target_w=3", "filter=bilinear"}},
    {"sincos2d", {"width=16", "grid_h=4", "grid_w=4", "base_size=7", "prefix=1"}},
    {"sincos2d", {"width=16", "grid_h=3", "grid_w=5", "first_axis=row"}},
    {"cape",
     {"width=8", "length=60", "position_scale=0.5", "mean=3", "global_shift=1.25",
      "log_scale=0.25"}},
};

Scheme SchemeOf(const std::string& name, Settings settings) {
  if (!ActsInAttention(ParseScheme(name, {}))) return ParseScheme(name, settings);
  const bool has_heads = std::ranges::any_of(
      settings, [](const std::string& setting) { return setting.starts_with("heads="); });
  settings.insert(settings.begin(), "head_dim=6");
  if (!has_heads) settings.insert(settings.begin(), "heads=4");
  return ParseScheme(name, settings);
}

// Positions that a scheme has, of these.
std::vector<double> Held(const Scheme& scheme, const std::vector<double>& positions) {
  std::vector<double> held;
  for (const double position : positions) {
    const auto count = PositionCount(scheme);
    if (!count || position < static_cast<double>(*count)) held.push_back(position);
  }
  return held;
}

void AskAttention(const Scheme& scheme, std::vector<Question>& questions) {
  const ExactEquations exact(scheme);
  for (const auto quantity :
       {EquationQuantity::slopes, EquationQuantity::buckets, EquationQuantity::bias,
        EquationQuantity::scores, EquationQuantity::attention}) {
    if (!exact.Yields(quantity)) continue;
    for (const double position : Held(scheme, {2, 11, 14, 80, 299, 700, 5000, 70001})) {
      const NamedInputs inputs =
          quantity == EquationQuantity::slopes
              ? NamedInputs{}
              : PlanAttention(scheme, exact, quantity, Dtype::f32, position, 1);
      questions.push_back({scheme, std::string(VariantName(quantity)), inputs,
                           exact.CheckInputs(quantity, inputs)});
      if (quantity == EquationQuantity::slopes) break;
    }
  }
}

void AskRows(const Scheme& scheme, std::vector<Question>& questions) {
  std::vector<double> positions = {0, 1, 2, 3, 5, 6, 7, 12, 14, 19, 40};
  const auto* learned = std::get_if<learned::Params>(&scheme);
  if (learned != nullptr && learned->offset > 0) positions.insert(positions.begin(), -1);
  if (std::holds_alternative<sinusoidal::Params>(scheme)) {
    positions.push_back(0.5);
    positions.push_back(-7);
  }
  positions = Held(scheme, positions);
  const auto count = static_cast<int64_t>(positions.size());
  for (const char* quantity : {"table", "embed"}) {
    const bool embeds = quantity == std::string_view("embed");
    NamedInputs inputs;
    if (HasEquations(scheme)) {
      inputs = PlanRows(scheme, ExactEquations(scheme),
                        embeds ? EquationQuantity::embed : EquationQuantity::table, Dtype::f32,
                        positions, 1);
    } else {
      inputs.tensors["positions"] = {{count}, positions};
      Random random(1, "embeddings");
      ExactTensor x{{count, WidthOf(scheme)}, {}};
      for (int64_t i = 0; i < count * WidthOf(scheme); ++i) {
        x.values.push_back(static_cast<float>(4 * random.Uniform() - 2));
      }
      if (embeds) inputs.tensors["x"] = x;
    }
    questions.push_back({scheme, quantity, inputs, {count, WidthOf(scheme)}});
  }
}

const std::vector<Question>& Questions() {
  static const std::vector<Question> questions = [] {
    std::vector<Question> all;
    for (const auto& [name, settings] : kSchemes) {
      const Scheme scheme = SchemeOf(name, settings);
      ActsInAttention(scheme) ? AskAttention(scheme, all) : AskRows(scheme, all);
    }
    // Large logarithms of swin2's scale, which plans do not draw.
    for (Question question : std::vector<Question>(all)) {
      if (!std::holds_alternative<swin2::Params>(question.scheme) ||
          question.quantity != "scores") {
        continue;
      }
      for (double& tau : question.inputs.tensors["tau"].values) tau = 6;
      all.push_back(question);
    }
    return all;
  }();
  return questions;
}

const std::vector<Fault>& TheFaults() {
  static const std::vector<Fault> faults = [] {
    std::vector<Fault> all;
    for (const auto part :
         {FaultsOfWaves, FaultsOfRows, FaultsOfAttention, FaultsOfBiases, FaultsOfWindows}) {
      for (Fault& fault : part()) all.push_back(std::move(fault));
    }
    return all;
  }();
  return faults;
}

std::optional<std::vector<double>> With(const Fault& fault, const Question& question) {
  const Fault* const faults[] = {&fault};
  return Replay(question, faults);
}

// Of a question by its number.
const std::vector<double>& Honest(size_t question) {
  static const std::vector<std::vector<double>> honest = [] {
    std::vector<std::vector<double>> all;
    for (const Question& asked : Questions()) all.push_back(Replay(asked, {}).value());
    return all;
  }();
  return honest[question];
}

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

// By more than `share` of the largest number.
bool Differ(const std::vector<double>& a, const std::vector<double>& b, double share) {
  const double allowed = share * std::max(Largest(a), Largest(b));
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::fabs(a[i] - b[i]) <= allowed)) return true;
  }
  return false;
}

// Sums of at most 64 terms in binary64, each rounded to half a unit, on either side.
constexpr double kRounding = 2 * 64 * 0x1p-53;

TEST(fault_bank_equations, IdsAreUniqueAndEveryWordIsThere) {
  std::set<std::string> ids;
  for (const Fault& fault : TheFaults()) {
    SCOPED_TRACE(fault.id);
    EXPECT_TRUE(ids.insert(fault.id).second);
    EXPECT_FALSE(fault.cause.empty() || fault.fix.empty() || fault.shows.empty());
    EXPECT_EQ(fault.kinds.empty() && fault.links.empty(), fault.links.empty());
  }
  EXPECT_GE(ids.size(), 90U);
}

TEST(fault_bank_equations, WithoutFaultsTheValuesAreThoseOfTheReference) {
  const Contract contract = Contract::Parse(
      "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 accumulate=f64 "
      "store=f64:rne flush=no",
      Dtype::f64);
  for (const Question& question : Questions()) {
    if (!HasEquations(question.scheme)) continue;
    SCOPED_TRACE(Text(question.scheme) + " " + question.quantity);
    const auto got = Replay(question, {});
    ASSERT_TRUE(got.has_value());
    const ExactEquations exact(question.scheme);
    const auto quantity = ParseVariant<EquationQuantity>("quantity", question.quantity);
    if (quantity == EquationQuantity::buckets) {
      const std::vector<int64_t> buckets = exact.Buckets(question.inputs);
      EXPECT_EQ(*got, std::vector<double>(buckets.begin(), buckets.end()));
      continue;
    }
    const EnclosedEach truth = exact.Enclose(quantity, question.inputs);
    const std::vector<EquationLimit> limits =
        EquationBound(contract, question.scheme).Limits(quantity, question.inputs, question.shape);
    for (size_t i = 0; i < got->size(); ++i) {
      if (std::isinf(truth.values[i].high)) {
        EXPECT_EQ((*got)[i], truth.values[i].high);
      } else {
        const DoubleDouble& right = truth.values[i];
        EXPECT_LE(std::fabs((*got)[i] - right.high - right.low), limits[i].stored + truth.radii[i])
            << i;
      }
    }
  }
}

// Far more than binary64 rounds away, and what one rounding to binary32 within a sum leaves.
constexpr double kSeen = 0x1p-30;

TEST(fault_bank_equations, EveryFaultActsAndShowsSomewhereSlow) {
  for (const Fault& fault : TheFaults()) {
    bool shows = false;
    for (size_t i = 0; i < Questions().size() && !shows; ++i) {
      const auto wrong = With(fault, Questions()[i]);
      shows = wrong && Differ(*wrong, Honest(i), kSeen);
    }
    EXPECT_TRUE(shows) << fault.id;
  }
}

TEST(fault_bank_equations, NoTwoFaultsAreTheSameSlow) {
  // What each makes of every question, to six digits: enough to tell them apart.
  std::map<std::string, std::string> seen;
  for (const Fault& fault : TheFaults()) {
    std::string effect;
    for (size_t i = 0; i < Questions().size(); ++i) {
      const auto wrong = With(fault, Questions()[i]);
      if (!wrong || !Differ(*wrong, Honest(i), kSeen)) continue;
      effect += fmt::format("{}:", i);
      for (const double value : *wrong) effect += fmt::format("{:.6g} ", value);
    }
    const auto [found, added] = seen.emplace(effect, fault.id);
    EXPECT_TRUE(added) << fault.id << " is " << found->second;
  }
}

// The fault of the bank and the kernel's.
const std::vector<std::pair<std::string, std::string>> kPorted = {
    {"other_denominator", "other_denominator"},
    {"index_absolute", "position_absolute"},
    {"row_sines_negated", "sin_sign"},
    {"sines_and_cosines_swapped", "sin_and_cos_swapped"},
    {"sines_and_cosines_swapped", "cosines_first"},
    {"added_twice", "added_twice"},
    {"waves_in_halves", "halves"},
    {"row_behind", "row_behind"},
    {"patches_column_major", "column_major"},
    {"first_axis_swapped", "axes_swapped"},
    {"corners_swapped", "corners_swapped"},
    {"other_cubic", "other_cubic"},
    {"prefix_resampled", "prefix_resampled"},
    {"scaled_before_shifts", "scaled_before_shifts"},
    {"mean_added", "mean_added"},
    {"local_shifts_ignored", "local_shifts_ignored"},
    {"local_shift_behind", "local_shift_behind"},
    {"local_shifts_add_up", "local_shifts_add_up"},
    {"no_mask", "no_mask"},
    {"head_leak", "head_leak"},
    {"softmax_scale_missing", "score_scale"},
    {"softmax_scale_applied", "score_scale"},
    {"bias_negated", "sign"},
    {"heads_rounded_up", "heads_rounded_up"},
    {"slice_ignored", "slice_ignored"},
    {"key_form_falls", "key_form_falls"},
    {"bias_left", "bias_left"},
    {"temperature_left_out", "temperature_ignored"},
    {"values_missing", "values_missing"},
    {"clip_short", "clip_short"},
    {"index_wraps", "index_wraps"},
    {"scale_on_content", "scale_on_content"},
    {"biases_swapped", "biases_swapped"},
    {"cosines_first", "cosines_first"},
    {"placement_swapped", "placement_swapped"},
    {"turning_pairs_swapped", "pairing_swapped"},
    {"fading_ignored", "fading_ignored"},
    {"fading_rises", "fading_rises"},
    {"centres_differ", "centres_differ"},
    {"window_unlimited", "window_ignored"},
    {"sharpening_ignored", "temperature_ignored"},
    {"chunks_ignored", "chunks_ignored"},
    {"critical_queries", "critical_queries"},
    {"local_ignored", "local_ignored"},
    {"axes_exchanged", "axes_exchanged"},
    {"rows_ignored", "rows_ignored"},
    {"rows_reversed", "rows_reversed"},
    {"keys_still", "keys_still"},
};

// What a kernel of the tests answers; nothing where none does.
std::optional<std::vector<double>> FromKernel(const std::string& fault, const Question& question) {
  const bool waves = !ActsInAttention(question.scheme) && !HasEquations(question.scheme);
  const std::string form = question.quantity == "table"   ? waves ? "rows" : "given_rows"
                           : question.quantity == "embed" ? waves ? "embed" : "given_embed"
                                                          : question.quantity;
  const std::string name =
      fmt::format("faulty.{}.{}.{}", fault, form, question.quantity == "buckets" ? "i32" : "f64");
  std::optional<Subject> subject;
  for (const posgauge_kernel& kernel : FaultyKernels()) {
    const std::string schemes = fmt::format(" {} ", kernel.schemes);
    const bool serves =
        schemes == " * " ||
        schemes.find(fmt::format(" {} ", Name(question.scheme))) != std::string::npos;
    if (kernel.name == name && serves) subject.emplace(KernelInfo(kernel), question.scheme);
  }
  if (!subject) return std::nullopt;
  if (!waves) return subject->Evaluate(question.inputs).Values();
  const Positions positions(question.inputs["positions"].values);
  if (question.quantity == "table") return subject->Rows(positions).Values();
  return subject
      ->Embed(positions,
              Tensor::FromValues(Dtype::f64, question.shape, question.inputs["x"].values))
      .Values();
}

TEST(fault_bank_equations, PortedFaultsDoWhatTheKernelsOfTheTestsDoSlow) {
  for (const auto& [id, kernel] : kPorted) {
    const auto fault = std::ranges::find(TheFaults(), id, &Fault::id);
    ASSERT_NE(fault, TheFaults().end()) << id;
    size_t compared = 0;
    for (size_t i = 0; i < Questions().size(); ++i) {
      const Question& question = Questions()[i];
      const auto replayed = With(*fault, question);
      if (!replayed || !Differ(*replayed, Honest(i), kSeen)) continue;
      const auto got = FromKernel(kernel, question);
      if (!got) continue;
      ++compared;
      EXPECT_FALSE(Differ(*replayed, *got, kRounding))
          << id << ": " << Text(question.scheme) << " " << question.quantity;
    }
    EXPECT_GT(compared, 0U) << id;
  }
}

}  // namespace
}  // namespace posgauge
