// What a call of attention may not be given.
#include <gtest/gtest.h>

#include "attention_values.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// Two queries, three keys, two heads of four channels; complete and right.
NamedInputs Right() {
  const std::vector<double> rows(24, 0.5);
  return {{{"query_positions", Consecutive(2, 1)},
           {"key_positions", Consecutive(3)},
           {"q", {{2, 2, 4}, {rows.begin(), rows.begin() + 16}}},
           {"k", {{3, 2, 4}, rows}},
           {"v", {{3, 2, 4}, rows}}}};
}

std::string RefusalOf(const NamedInputs& inputs, Q quantity = Q::attention) {
  const ExactEquations exact(ParseScheme("none", {"heads=2", "head_dim=4"}));
  const std::string checked = Refusal([&] { exact.CheckInputs(quantity, inputs); });
  EXPECT_EQ(Refusal([&] { exact.Evaluate(quantity, inputs, Dtype::f32); }), checked);
  EXPECT_EQ(Refusal([&] { exact.Enclose(quantity, inputs); }), checked);
  return checked;
}

TEST(attention_inputs, RightOnesPass) { EXPECT_EQ(RefusalOf(Right()), ""); }

TEST(attention_inputs, EachOneMissingIsNamed) {
  for (const auto& [name, tensor] : Right().tensors) {
    NamedInputs inputs = Right();
    inputs.tensors.erase(name);
    EXPECT_EQ(RefusalOf(inputs), "input " + name + " is missing");
  }
}

TEST(attention_inputs, ThoseNotTakenAreNamed) {
  NamedInputs inputs = Right();
  inputs.tensors["slopes"] = List({1, 2});
  EXPECT_EQ(RefusalOf(inputs), "attention takes no input slopes");
  EXPECT_EQ(RefusalOf(Right(), Q::scores), "scores takes no input v");
}

TEST(attention_inputs, WrongShapesAreNamed) {
  for (const auto& [name, tensor] : Right().tensors) {
    const int64_t size = std::ssize(tensor.values);
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{},
                                           {size, 1},
                                           {1, 1, 1, size},
                                           {size, 2, 4},
                                           {2, 4, 2},
                                           {3, 4, 2},
                                           {-1, -2, -4},
                                           {-3},
                                           {size + 1},
                                           {int64_t{1} << 62, 4, 4}}) {
      NamedInputs inputs = Right();
      inputs.tensors[name].shape = shape;
      EXPECT_TRUE(RefusalOf(inputs).starts_with("input " + name + " must have "))
          << name << " [" << fmt::format("{}", fmt::join(shape, ", ")) << "] " << RefusalOf(inputs);
    }
    NamedInputs inputs = Right();
    inputs.tensors[name].values.pop_back();
    EXPECT_TRUE(RefusalOf(inputs).starts_with("input " + name + " must have ")) << name;
  }
}

TEST(attention_inputs, RowsFollowPositions) {
  NamedInputs inputs = Right();
  inputs.tensors["query_positions"] = Consecutive(3);
  EXPECT_EQ(RefusalOf(inputs), "input q must have 3 rows, as its positions, got 2");
  inputs = Right();
  inputs.tensors["key_positions"] = Consecutive(2);
  EXPECT_EQ(RefusalOf(inputs), "input k must have 2 rows, as its positions, got 3");
}

TEST(attention_inputs, OnlyFiniteNumbersAreTaken) {
  for (const auto& [name, tensor] : Right().tensors) {
    for (const double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      NamedInputs inputs = Right();
      inputs.tensors[name].values.back() = wrong;
      EXPECT_TRUE(RefusalOf(inputs).starts_with("input " + name + " must hold finite numbers"))
          << name << " " << wrong;
    }
  }
}

TEST(attention_inputs, AQueryThatSeesNoKeyHasScoresButNoAttention) {
  NamedInputs inputs = Right();
  inputs.tensors["query_positions"] = List({-1, 0});
  EXPECT_EQ(RefusalOf(inputs), "the query at position -1 sees no key: its softmax has no meaning");
  inputs.tensors.erase("v");
  EXPECT_EQ(RefusalOf(inputs, Q::scores), "");
  const ExactEquations everything(ParseScheme("none", {"heads=2", "head_dim=4", "causal=false"}));
  EXPECT_EQ(Refusal([&] { everything.CheckInputs(Q::scores, inputs); }), "");
}

TEST(attention_inputs, HeadsAndWidthsOutsideTheirDomainAreRefused) {
  for (const std::string scheme :
       {"none", "alibi", "t5", "kerple", "sandwich", "fire", "shaw", "transformer_xl", "cope",
        "xpos", "rerope", "dual_chunk", "mixed"}) {
    for (const std::string wrong :
         {"heads=0", "heads=-1", "heads=65537", "head_dim=0", "head_dim=-4", "head_dim=65537",
          "scale=half", "causal=maybe"}) {
      EXPECT_NE(Refusal([&] { ParseScheme(scheme, {wrong}); }), "") << scheme << " " << wrong;
    }
  }
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"max_bias=0"},
                                             {"max_bias=-8"},
                                             {"max_bias=1025"},
                                             {"first_head=1"},
                                             {"first_head=-1"},
                                             {"total_heads=4"},
                                             {"total_heads=65537"},
                                             {"form=left"}}) {
    EXPECT_NE(Refusal([&] { ParseScheme("alibi", wrong); }), "") << wrong.front();
  }
}

TEST(attention_inputs, OtherKindsDoNotAct) {
  for (const std::string scheme : {"rope", "sinusoidal"}) {
    EXPECT_NE(Refusal([&] { ExactEquations{ParseScheme(scheme, {})}; }), "") << scheme;
  }
  const ExactEquations t5(ParseScheme("t5", {}));
  const NamedInputs positions{
      {{"query_positions", Consecutive(1)}, {"key_positions", Consecutive(1)}}};
  EXPECT_NE(Refusal([&] { t5.Evaluate(Q::buckets, positions, Dtype::f32); }), "");
}

TEST(attention_inputs, IntegersAreNoDtypeOfValues) {
  const ExactEquations exact(ParseScheme("alibi", {}));
  EXPECT_NE(Refusal([&] { exact.Evaluate(Q::slopes, {}, Dtype::i32); }), "");
}

}  // namespace
}  // namespace posgauge
