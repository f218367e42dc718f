#include "posgauge/properties/alibi.h"

#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include "decimal_text.h"
#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/fast/alibi.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/float64.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/judge_equations.h"
#include "tensor_view.h"

namespace posgauge {
namespace {

using Settings = std::vector<std::string>;

Scheme Alibi(const Settings& settings) { return ParseScheme("alibi", settings); }

std::vector<DoubleDouble> SlopesOf(const Settings& settings) {
  return ExactEquations(Alibi(settings)).Enclose(EquationQuantity::slopes, {}).values;
}

// The number with as many digits as `printed` has, two at least, the last one rounded.
std::string Rounded(const std::string& printed, DoubleDouble value) {
  const auto digits = static_cast<std::streamsize>(std::max<size_t>(2, DigitsOf(printed).size()));
  const std::string text = Sum(value).str(digits - 1, std::ios::scientific);
  std::string rounded;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c >= '0' && c <= '9') rounded += c;
  }
  return DigitsOf(printed).size() == 1 && rounded.ends_with('0') ? rounded.substr(0, 1) : rounded;
}

// Thirty digits, by mpmath at 60 digits from the formula of the paper's code, in no part this
// program.
TEST(alibi, WorkedSlopesHoldToEveryDigit) {
  const std::vector<std::pair<Settings, std::vector<std::string>>> worked = {
      {{"heads=16"},
       {"0.707106781186547524400844362105", "0.5", "0.353553390593273762200422181052", "0.25",
        "0.176776695296636881100211090526", "0.125", "0.0883883476483184405501055452631", "0.0625",
        "0.0441941738241592202750527726316", "0.03125", "0.0220970869120796101375263863158",
        "0.015625", "0.0110485434560398050687631931579", "0.0078125",
        "0.00552427172801990253438159657894", "0.00390625"}},
      {{"heads=12"},
       {"0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625", "0.0078125", "0.00390625",
        "0.707106781186547524400844362105", "0.353553390593273762200422181052",
        "0.176776695296636881100211090526", "0.0883883476483184405501055452631"}},
      {{"heads=6"}, {"0.25", "0.0625", "0.015625", "0.00390625", "0.5", "0.125"}},
      {{"heads=6", "max_bias=4"},
       {"0.5", "0.25", "0.125", "0.0625", "0.707106781186547524400844362105",
        "0.353553390593273762200422181052"}},
      {{"heads=6", "max_bias=16"},
       {"0.0625", "0.00390625", "0.000244140625", "0.0000152587890625", "0.25", "0.015625"}},
      {{"heads=1"}, {"0.00390625"}},
      {{"heads=2"}, {"0.0625", "0.00390625"}},
      {{"heads=3"}, {"0.0625", "0.00390625", "0.25"}},
      {{"heads=4", "total_heads=12", "first_head=8"},
       {"0.707106781186547524400844362105", "0.353553390593273762200422181052",
        "0.176776695296636881100211090526", "0.0883883476483184405501055452631"}},
  };
  for (const auto& [settings, printed] : worked) {
    const std::vector<DoubleDouble> slopes = SlopesOf(settings);
    ASSERT_EQ(slopes.size(), printed.size());
    for (size_t i = 0; i < slopes.size(); ++i) {
      EXPECT_EQ(Rounded(printed[i], slopes[i]), DigitsOf(printed[i]))
          << fmt::format("{}", fmt::join(settings, " ")) << " head " << i;
    }
  }
}

// Query 3, scaled scores (0.2, -0.1, 0.4, 0.3), slope 1/2: the weights of the catalogue, which
// every form shares, here from the binary64 numbers that 0.2 and the others mean (mpmath, 60
// digits); those of the decimals differ from the 17th digit on. Values pick out one weight each.
TEST(alibi, WorkedSoftmaxHoldsToEveryDigitInEveryForm) {
  const std::vector<std::string> printed = {
      "0.09528753490067997951101959809", "0.1163844579459739697517425184",
      "0.3163657571495969874081861543", "0.4719622500037490633290517292"};
  for (const char* form : {"relative", "symmetric", "key", "key_from_last"}) {
    const ExactEquations exact(
        Alibi({"heads=1", "head_dim=1", "max_bias=1", fmt::format("form={}", form)}));
    for (size_t weight = 0; weight < 4; ++weight) {
      NamedInputs inputs;
      inputs.tensors["query_positions"] = {{1}, {3}};
      inputs.tensors["key_positions"] = {{4}, {0, 1, 2, 3}};
      inputs.tensors["q"] = {{1, 1, 1}, {1}};
      inputs.tensors["k"] = {{4, 1, 1}, {0.2, -0.1, 0.4, 0.3}};
      inputs.tensors["v"] = {{4, 1, 1}, {0, 0, 0, 0}};
      inputs.tensors["v"].values[weight] = 1;
      const EnclosedEach out = exact.Enclose(EquationQuantity::attention, inputs);
      EXPECT_EQ(Rounded(printed[weight], out.values[0]), DigitsOf(printed[weight])) << form;
    }
  }
}

TEST(alibi, FormulaForPowersOfTwoDiffersElsewhere) {
  // What 2^(-8h/12) would be: the table of the catalogue.
  const std::vector<DoubleDouble> slopes = SlopesOf({"heads=12"});
  EXPECT_EQ(slopes[0].high, 0.5);
  EXPECT_NE(slopes[0].high, std::exp2(-8.0 / 12));
  EXPECT_GT(slopes[8].high, slopes[0].high);
}

TEST(alibi, KernelSlopesAreCorrectlyRounded) {
  for (const char* dtype : {"f64", "f32"}) {
    const KernelInfo info = AnyKernel(fmt::format("fast.slopes.alibi.{}", dtype));
    for (int64_t heads = 1; heads <= 256; ++heads) {
      for (int64_t max_bias = 1; max_bias <= 16; max_bias += heads % 3 + 1) {
        const Scheme scheme =
            Alibi({fmt::format("heads={}", heads), fmt::format("max_bias={}", max_bias)});
        const RoundedValues exact =
            ExactEquations(scheme).Evaluate(EquationQuantity::slopes, {}, info.io());
        EXPECT_EQ(exact.counts.undecided, 0);
        EXPECT_EQ(Subject(info, scheme).Evaluate({}).Values(), exact.values) << Text(scheme);
      }
    }
  }
}

TEST(alibi, RefusesWhatHasNoMeaning) {
  for (const Settings& settings : std::vector<Settings>{{"max_bias=0"},
                                                        {"max_bias=-1"},
                                                        {"heads=0"},
                                                        {"heads=8", "total_heads=4"},
                                                        {"heads=8", "first_head=1"},
                                                        {"form=far"}}) {
    EXPECT_THROW(Alibi(settings), ParameterError) << settings[0];
  }
}

std::vector<Settings> Conventions() {
  return {{"heads=4", "head_dim=16"},
          {"heads=3", "head_dim=5", "max_bias=5.5", "form=key"},
          {"heads=4", "head_dim=16", "form=key_from_last", "scale=one"},
          {"heads=6", "head_dim=8", "form=symmetric", "causal=false"},
          {"heads=4", "head_dim=8", "total_heads=12", "first_head=8"},
          {"heads=4", "head_dim=5", "form=key", "before_scale=true"}};
}

TEST(alibi, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const Settings& settings : Conventions()) {
    const Scheme scheme = Alibi(settings);
    std::vector<Subject> subjects;
    for (const std::string& name : GoodKernels()) {
      const KernelInfo info = AnyKernel(name);
      if (info.Serves(scheme)) subjects.emplace_back(info, scheme);
    }
    // Slopes, biases, scores and attention of both libraries; fast slopes in two dtypes.
    ASSERT_EQ(subjects.size(), 4u * 4u + 2u + 3u * 4u);
    const CheckPlan plan{.positions = {0, 1, 2, 255, 257, 4095, 131071, 16777217}};
    const std::vector<KernelCheck> checks = CheckKernels(subjects, plan);
    for (size_t i = 0; i < subjects.size(); ++i) {
      EXPECT_EQ(checks[i].keeps_contract.outcome, Outcome::pass) << Text(scheme) << "\n"
                                                                 << Line(checks[i].keeps_contract);
      EXPECT_GT(checks[i].keeps_contract.use.count(), 0u);
    }
  }
}

TEST(alibi, FaultyKernelsBreakTheirContracts) {
  const Scheme scheme =
      Alibi({"heads=5", "head_dim=8", "max_bias=6", "total_heads=12", "first_head=6"});
  const CheckPlan plan{.positions = {1, 2, 3, 7, 255, 4095}};
  size_t count = 0;
  for (const posgauge_kernel& kernel : FaultyKernels()) {
    const KernelInfo info(kernel);
    if (!info.name.starts_with("faulty.") || !info.Serves(scheme)) continue;
    // These show over several calls, or over other inputs or forms.
    const bool hidden = info.name.find("nan_spreads") != info.name.npos ||
                        info.name.find("key_form_falls") != info.name.npos ||
                        info.name.find("unstable") != info.name.npos;
    if (hidden) continue;
    ++count;
    const Verdict verdict = CheckKernels({Subject(info, scheme)}, plan)[0].keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
  }
  EXPECT_GT(count, 60u);
}

// A kernel of the key form for a model of the relative one.
posgauge_kernel KeyFormForTheRelative(std::string_view name) {
  static std::string honest;  // for run, a plain function
  honest = name;
  posgauge_kernel kernel = *AnyKernel(name).kernel;
  kernel.run = [](const posgauge_call* call, char* why, size_t size) {
    std::vector<posgauge_scalar> scalars(call->scalars, call->scalars + call->num_scalars);
    for (posgauge_scalar& scalar : scalars) {
      if (std::string_view(scalar.name) == "form") scalar.value = 2;  // key
    }
    posgauge_call changed = *call;
    changed.scalars = scalars.data();
    return AnyKernel(honest).kernel->run(&changed, why, size);
  };
  return kernel;
}

// Harmless where it says so, and then with its cost in rounding.
TEST(alibi, RowShiftIsHarmlessWhereDeclared) {
  posgauge_kernel kernel = KeyFormForTheRelative("fast.bias.alibi.bf16");
  const Scheme scheme = Alibi({"heads=4", "head_dim=4"});
  const CheckPlan plan{.positions = {1, 100, 4095, 131070}};
  const KernelCheck undeclared = CheckKernels({Subject(KernelInfo(kernel), scheme)}, plan)[0];
  EXPECT_EQ(undeclared.keeps_contract.outcome, Outcome::fail);
  EXPECT_NE(undeclared.keeps_contract.first_failure->where.find("declares rowshift"),
            std::string::npos)
      << Line(undeclared.keeps_contract);
  kernel.invariances = "rowshift";
  const KernelCheck declared = CheckKernels({Subject(KernelInfo(kernel), scheme)}, plan)[0];
  EXPECT_EQ(declared.keeps_contract.outcome, Outcome::pass) << Line(declared.keeps_contract);
  EXPECT_NE(declared.keeps_contract.note.find("harmless row shift"), std::string::npos);
  // At the near keys bf16 of m j tells nothing of m (i - j): not adequate.
  EXPECT_EQ(declared.adequate->outcome, Outcome::fail);
  // Nor does a row of near keys alone, far out: nothing that the store hides counts as seen.
  EXPECT_EQ(CheckKernels({Subject(KernelInfo(kernel), scheme)}, {.positions = {131071}})[0]
                .keeps_contract.outcome,
            Outcome::blind);
}

// One huge number for every key is a row whose shift has swallowed it.
TEST(alibi, AShiftThatSwallowsTheRowIsBlindAndNeverAdequate) {
  for (const char* name :
       {"fast.bias.alibi.f32", "fast.scores.alibi.f32", "fast.scores.alibi.bf16"}) {
    posgauge_kernel kernel = *AnyKernel(name).kernel;
    kernel.invariances = "rowshift";
    kernel.run = [](const posgauge_call* call, char*, size_t) -> int32_t {
      const View out(call->outputs[0]);
      const bool scores = std::string_view(call->quantity) == "scores";
      const View queries = Input(*call, "query_positions"), keys = Input(*call, "key_positions");
      for (int64_t query = 0; query < out.shape(1); ++query) {
        for (int64_t key = 0; key < out.shape(2); ++key) {
          const bool masked = scores && keys.Get(key) > queries.Get(query);
          for (int64_t head = 0; head < out.shape(0); ++head) {
            out.Set(masked ? -HUGE_VAL : 1e30, head, query, key);
          }
        }
      }
      return POSGAUGE_OK;
    };
    const KernelCheck check =
        CheckKernels({Subject(KernelInfo(kernel), Alibi({"heads=4", "head_dim=4"}))},
                     {.positions = {1, 100, 4095, 131071}})[0];
    EXPECT_EQ(check.keeps_contract.outcome, Outcome::blind) << name << Line(check.keeps_contract);
    EXPECT_EQ(check.adequate->outcome, Outcome::fail) << name;
  }
}

// Rows of the key form move with the positions; their differences do not.
TEST(alibi, TranslationLooksAtDifferencesWhereRowsMayShift) {
  posgauge_kernel kernel = KeyFormForTheRelative("fast.bias.alibi.f32");
  const Scheme scheme = Alibi({"heads=4", "head_dim=4"});
  EXPECT_EQ(CheckStandardLaw("translation", Subject(KernelInfo(kernel), scheme), {}).outcome,
            Outcome::fail);
  kernel.invariances = "rowshift";
  const Verdict declared = CheckStandardLaw("translation", Subject(KernelInfo(kernel), scheme), {});
  EXPECT_EQ(declared.outcome, Outcome::pass) << Line(declared);
  // Positions in bf16 change the differences too.
  posgauge_kernel faulty = *FaultyKernel("faulty.position_bf16.bias.f32").kernel;
  faulty.invariances = "rowshift";
  EXPECT_EQ(CheckStandardLaw("translation", Subject(KernelInfo(faulty), scheme), {}).outcome,
            Outcome::fail);
}

TEST(alibi, ForgottenMasksAreNotAdequate) {
  const KernelInfo info = FaultyKernel("faulty.no_mask.scores.f32");
  const KernelCheck check =
      CheckKernels({Subject(info, Alibi({"heads=4", "head_dim=4"}))}, {.positions = {1, 100}})[0];
  EXPECT_EQ(check.keeps_contract.outcome, Outcome::fail);
  EXPECT_EQ(check.adequate->outcome, Outcome::fail);
}

TEST(alibi, ShiftedRowsThatAreWrongStillFail) {
  posgauge_kernel kernel = *FaultyKernel("faulty.short_sighted.bias.f32").kernel;
  kernel.invariances = "rowshift";
  const Verdict verdict =
      CheckKernels({Subject(KernelInfo(kernel), Alibi({"heads=4"}))}, {.positions = {100, 4095}})[0]
          .keeps_contract;
  EXPECT_EQ(verdict.outcome, Outcome::fail);
}

TEST(alibi, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(alibi::AnyParams())); }

TEST(alibi, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*alibi::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
