// The bank of faults as a whole: names, public reports, and what the gate's own check kills.
#include <iostream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/mutation.h"
#include "posgauge/verify/plan.h"

namespace posgauge {
namespace {

TEST(fault_bank, NamesAreUniqueAndNothingIsLeftUnsaid) {
  std::set<std::string> ids;
  for (const Fault& fault : FaultBank()) {
    EXPECT_TRUE(ids.insert(fault.id).second) << fault.id;
    for (const std::string& text : {fault.cause, fault.fix, fault.shows}) {
      EXPECT_FALSE(text.empty()) << fault.id;
      EXPECT_EQ(text.find('\n'), std::string::npos) << fault.id;
    }
    for (const std::string& link : fault.links) {
      EXPECT_TRUE(link.starts_with("https://github.com/")) << fault.id;
    }
  }
  EXPECT_GE(ids.size(), 120u);
  EXPECT_EQ(FindFault("no_such_fault"), nullptr);
}

// Kinds of public reports that no single call shows, with the reason.
const std::map<std::string, std::string> kBeyondACall = {
    {"CP_SPLIT_Q", "how a sequence is split over processes"},
    {"FP64_UNSUPPORTED", "a dtype that a device lacks"},
    {"OOB_READ", "a read beside a tensor: the gate's guard pages"},
    {"PERF_GRID", "time alone"},
    {"SOFTMAX_MSCALE_MISSING", "the scale of softmax, outside a rotation"},
    {"NOPE_IGNORED", "which layers turn: the config, not a kernel"},
    {"TIME_SCALE_IMAGE", "how positions of images are formed, before a kernel"},
};

TEST(fault_bank, EveryKindOfPublicReportIsCovered) {
  std::set<std::string> covered;
  for (const Fault& fault : FaultBank()) covered.insert(fault.kinds.begin(), fault.kinds.end());
  for (const char* kind : {"ALIBI_CACHE_SHIFT",
                           "ALIBI_DIST_OFF1",
                           "ALIBI_LAYER_SCALE",
                           "ALIBI_MPT_ORDER",
                           "ALIBI_REF_BF16",
                           "ALIBI_SIGN",
                           "ALIBI_TP_OFFSET",
                           "ALIGN_CORNERS",
                           "ALPHA_KEY",
                           "ANGLE_BF16",
                           "ARG_ORDER",
                           "AXIS_ORDER",
                           "BACKWARD",
                           "BASE_HARDCODED",
                           "BETA_SWAP",
                           "CONVERT_PERMUTE",
                           "COPIED_BUG",
                           "CP_SPLIT_Q",
                           "DEBERTA_LOG_DENOM",
                           "DEBERTA_P2C_SIGN",
                           "DEFAULT_ZERO",
                           "DOC_EXAMPLE",
                           "DOUBLE_ROTATION",
                           "DTYPE_MIX",
                           "DYN_NTK_STATIC",
                           "FASTMATH_TRIG",
                           "FP64_UNSUPPORTED",
                           "FREQ_BF16",
                           "FUSION_DROPS_ATTR",
                           "GPTJ_FOR_NEOX",
                           "HEADDIM_FLAT",
                           "HEAD_INDEXING",
                           "INPLACE_STRIDE",
                           "INT32_OFFSET",
                           "KERPLE_INIT",
                           "KEY_NAME",
                           "LEFTPAD_ARANGE",
                           "LLAMA3_BLEND_ON_PERIOD",
                           "LLAMA3_MISSING",
                           "LLAMA3_WRONG_FACTOR",
                           "LONGROPE_BY_CAPACITY",
                           "LONGROPE_DROPPED",
                           "LONGROPE_LT_LE",
                           "LONGROPE_MIXED_CACHE",
                           "LONGROPE_ONE_LIST",
                           "LONGROPE_ONLY_LONG",
                           "MROPE_1D_POS",
                           "MROPE_BLOCK_FOR_INTERLEAVE",
                           "MROPE_INTERLEAVE_FOR_BLOCK",
                           "MSCALE_INCONSISTENT",
                           "MSCALE_RAW",
                           "MSCALE_SINGLE",
                           "MSCALE_TWICE",
                           "NEOX_FOR_GPTJ",
                           "NOPE_IGNORED",
                           "NTK_ALPHA_SQUARED",
                           "OFFSET_IGNORED",
                           "OFFSET_MINUS1",
                           "OOB_READ",
                           "OUT_NOT_REINTERLEAVED",
                           "PARTIAL_IGNORED",
                           "PERF_GRID",
                           "PI_ALL_LAYERS",
                           "PI_IGNORED",
                           "PI_WRONG_LAYER",
                           "PI_WRONG_PLACE",
                           "POSIDS_BATCH1",
                           "POS_CAST_TEMP",
                           "POS_OOB",
                           "RANK3_RESHAPE",
                           "REL_SIGN",
                           "ROPE_ABSENT",
                           "ROT_IN_LOWP",
                           "SCALE_INSIDE_POW",
                           "SCALING_TYPE_NONE",
                           "SENTINEL_USED",
                           "SHIFT_MROPE",
                           "SHIFT_SKIPPED",
                           "SHIFT_WRONG_NROT",
                           "SINCOS_ORDER",
                           "SIN_DENOM",
                           "SIN_FLOORDIV",
                           "SIN_FREQ_PER_COMPONENT",
                           "SOFTMAX_MSCALE_MISSING",
                           "SWIN_3D_RADIX",
                           "SWIN_CONCAT",
                           "T5_BIAS_DROPPED",
                           "T5_BUCKET",
                           "T5_CROSS_BIAS",
                           "T5_DECODE_KERNEL",
                           "TABLE_BF16",
                           "TABLE_LAYOUT_MIX",
                           "TABLE_SLICE",
                           "TIME_SCALE_IMAGE",
                           "UNINIT_FREQ",
                           "WRONG_AXIS",
                           "XL_NO_NEGATIVE",
                           "XL_SHIFT_CAUSAL",
                           "XL_TABLE_SHORT",
                           "YARN_CLAMP_HALF",
                           "YARN_TRUNCATE"}) {
    EXPECT_NE(covered.contains(kind), kBeyondACall.contains(kind)) << kind;
  }
}

// The suite's own score: what has an effect beyond twice the bound is killed, in every dtype; and
// what a usual test lets through, with what it would take.
TEST(fault_bank, TheGateKillsWhatCountsSlow) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=32", "base=500000"});
  const CheckPlan plan{PlanPositions(200, 131071, {}, 1), 2, 1};
  UsualTest test{{}, CustomsOf(Dtype::f32)[0]};
  for (int p = 0; p < 40; ++p) test.positions.push_back(p);
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const Subject honest(FaultyKernel(fmt::format("honest.rotate.{}", Name(dtype))), scheme);
    test.rule = CustomsOf(dtype)[0];
    size_t counted = 0, killed = 0, let_through = 0;
    for (const Mutant& mutant : RunMutants(honest, plan, test)) {
      if (!mutant.counts_from) continue;
      ++counted;
      EXPECT_TRUE(mutant.killed_from) << mutant.fault->id;
      if (mutant.killed_from) ++killed;
      if (!mutant.killed_by_test) {
        ++let_through;
        EXPECT_FALSE(mutant.remedy.empty()) << mutant.fault->id;
      }
      if (mutant.fault->id == "position_bf16") {
        EXPECT_FALSE(mutant.killed_by_test);
        EXPECT_EQ(mutant.remedy, "test position 257");
        EXPECT_EQ(mutant.counts_from, 257);
      }
    }
    std::cout << fmt::format("{}: {} of {} that count are killed, a usual test lets {} through\n",
                             Name(dtype), killed, counted, let_through);
    EXPECT_GT(counted, 50u);
    EXPECT_GT(let_through, 5u);
  }
}

TEST(fault_bank, ASharedTableHidesWhatFormsIt) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=16", "rotary_dim=16"});
  const CheckPlan plan{{0, 1, 2, 301}, 2, 1};
  const Subject honest(FaultyKernel("honest.rotate.f32"), scheme);
  for (const bool shared : {false, true}) {
    const UsualTest test{{0, 1, 2}, CustomsOf(Dtype::f32)[0], shared};
    std::map<std::string, Mutant> mutants;
    for (const Mutant& mutant : RunMutants(honest, plan, test)) {
      mutants.emplace(mutant.fault->id, mutant);
    }
    const std::string table = "form the table in the test, ";
    for (const char* of_table : {"frequency_bf16", "base_times_50", "sin_dropped"}) {
      EXPECT_EQ(mutants.at(of_table).killed_by_test, !shared) << of_table;
      EXPECT_EQ(mutants.at(of_table).remedy, shared ? table + "apart from the kernel's" : "");
    }
    EXPECT_FALSE(mutants.at("position_bf16").killed_by_test);
    EXPECT_EQ(mutants.at("position_bf16").remedy,
              (shared ? table + "and " : "") + "test position 301");
    EXPECT_TRUE(mutants.at("term_dropped").killed_by_test);
    EXPECT_TRUE(mutants.at("pairing_flipped").killed_by_test);
  }
}

}  // namespace
}  // namespace posgauge
