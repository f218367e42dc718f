// The kernels of sinusoidal rows: every instruction set, any place in memory, what they refuse.
#include <cmath>

#include "kernel_call.h"
#include "posgauge/fast/sinusoidal.h"
#include "posgauge/verify/check.h"

namespace posgauge {
namespace {

const std::vector<std::vector<std::string>> kConventions = {
    {"width=64"},
    {"width=37", "odd_width=extra_sine"},
    {"width=37", "layout=halves", "odd_width=extra_sine"},
    {"width=37", "layout=halves", "frequency_shift=1", "odd_width=zero", "start=2",
     "padding_index=1"},
    {"width=38", "layout=flipped", "frequency_shift=0", "scale=1000"},
    {"width=2"},
};

Scheme SchemeOf(const std::vector<std::string>& settings) {
  return ParseScheme("sinusoidal", settings);
}

TEST(fast_rows, KeepTheirContractsOnEveryTarget) {
  OnEveryTarget([] {
    for (const auto& settings : kConventions) {
      const Scheme scheme = SchemeOf(settings);
      std::vector<Subject> subjects;
      size_t count = 0;
      const posgauge_kernel* kernels = FastKernels(&count);
      for (size_t i = 0; i < count; ++i) {
        const KernelInfo info(kernels[i]);
        if (info.Serves(scheme)) subjects.emplace_back(info, scheme);
      }
      ASSERT_EQ(subjects.size(), 9u);
      const CheckPlan plan{
          .positions = {-1, 0, 1, 2, 3, 63.5, 1023, 65537, 16777217, 0x1p31 - 1, 0x1p32 - 3}};
      for (const KernelCheck& check : CheckKernels(subjects, plan)) {
        EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass)
            << Text(scheme) << " " << check.keeps_contract.subject << " "
            << check.keeps_contract.use.max() << " " << check.keeps_contract.note;
      }
    }
  });
}

// One call of fast.embed or fast.rows.
struct Placed {
  Scheme scheme;
  Dtype io;
  CallTensor positions, high, low;

  Placed(const Scheme& of, Dtype dtype, Dtype position_dtype, const std::vector<double>& at)
      : scheme(of),
        io(dtype),
        positions(TensorOf(position_dtype, at)),
        high(TensorOf(Dtype::f64, Parts(of, true))),
        low(TensorOf(Dtype::f64, Parts(of, false))) {}

  static std::vector<double> Parts(const Scheme& scheme, bool of_high) {
    std::vector<double> parts;
    for (DoubleDouble value :
         sinusoidal::Frequencies(std::get<sinusoidal::Params>(scheme)).frequency) {
      parts.push_back(of_high ? value.high : value.low);
    }
    return parts;
  }

  Answer Rows(CallTensor& rows) {
    return CallKernel(fmt::format("fast.rows.{}", Name(io)), scheme,
                      {positions.Argument("positions"), high.Argument("frequency"),
                       low.Argument("frequency_low")},
                      {rows.Argument("rows")});
  }
  Answer Embed(CallTensor& x, CallTensor& out) {
    return CallKernel(fmt::format("fast.embed.{}", Name(io)), scheme,
                      {x.Argument("x"), positions.Argument("positions"), high.Argument("frequency"),
                       low.Argument("frequency_low")},
                      {out.Argument("out")});
  }
};

const std::vector<double> kAt = {-1, 0, 7};

TEST(fast_rows, AreTheSameWhereverTheyStand) {
  for (const auto& settings : kConventions) {
    const Scheme scheme = SchemeOf(settings);
    const int64_t width = WidthOf(scheme);
    const std::vector<int64_t> shape = {3, width};
    for (Dtype io : fast::kDtypes) {
      Placed call(scheme, io, Dtype::i64, kAt);
      CallTensor rows(io, shape);
      ASSERT_EQ(call.Rows(rows).status, POSGAUGE_OK);
      CallTensor x(io, shape), sums(io, shape);
      for (size_t i = 0; i < x.size(); ++i) x.Set(i, std::ldexp(static_cast<double>(i % 7), -2));
      ASSERT_EQ(call.Embed(x, sums).status, POSGAUGE_OK);
      const std::vector<std::pair<std::vector<int64_t>, int64_t>> places = {
          {{width, 1}, 1}, {{width + 3, 1}, 0}, {{2 * width, 2}, 3}, {{width, -1}, 0}, {{1, 3}, 2}};
      for (const auto& [strides, shift] : places) {
        CallTensor elsewhere(io, shape, strides, shift);
        ASSERT_EQ(call.Rows(elsewhere).status, POSGAUGE_OK);
        EXPECT_EQ(elsewhere.AllBits(), rows.AllBits());
        EXPECT_TRUE(elsewhere.OthersUntouched());
        CallTensor moved_x(io, shape, strides, shift), moved_out(io, shape, strides, shift);
        for (size_t i = 0; i < x.size(); ++i) moved_x.SetBits(i, x.Bits(i));
        ASSERT_EQ(call.Embed(moved_x, moved_out).status, POSGAUGE_OK);
        EXPECT_EQ(moved_out.AllBits(), sums.AllBits());
        EXPECT_TRUE(moved_out.OthersUntouched());
        ASSERT_EQ(call.Embed(moved_x, moved_x).status, POSGAUGE_OK);  // in place
        EXPECT_EQ(moved_x.AllBits(), sums.AllBits());
      }
    }
  }
}

TEST(fast_rows, DoNotDependOnThePositionsDtype) {
  const Scheme scheme = SchemeOf(kConventions[3]);
  CallTensor first(Dtype::f32, {3, 37});
  ASSERT_EQ(Placed(scheme, Dtype::f32, Dtype::i64, kAt).Rows(first).status, POSGAUGE_OK);
  for (Dtype dtype : {Dtype::i32, Dtype::f64, Dtype::f32}) {
    CallTensor rows(Dtype::f32, {3, 37});
    ASSERT_EQ(Placed(scheme, Dtype::f32, dtype, kAt).Rows(rows).status, POSGAUGE_OK);
    EXPECT_EQ(rows.AllBits(), first.AllBits());
  }
}

TEST(fast_rows, RefuseWhatTheyCannotServe) {
  const auto why = [](const std::vector<std::string>& settings, double position,
                      std::vector<int64_t> shape) {
    const Scheme scheme = SchemeOf(settings);
    CallTensor rows(Dtype::f32, shape);
    const Answer answer = Placed(scheme, Dtype::f32, Dtype::f64, {position}).Rows(rows);
    EXPECT_EQ(answer.status, POSGAUGE_UNSUPPORTED);
    EXPECT_TRUE(rows.OthersUntouched());
    return answer.why;
  };
  EXPECT_EQ(why({"width=4"}, 1, {1, 5}), "rows must have length 4 on axis 1, got 5");
  EXPECT_EQ(why({"width=4"}, 1, {2, 4}), "rows must have length 1 on axis 0, got 2");
  EXPECT_NE(why({"width=4"}, 0x1p33, {1, 4}), "");
  EXPECT_EQ(why({"width=4", "start=1"}, 0.1, {1, 4}),
            "a position plus start must be a binary64 number, got 0.1 + 1");
  EXPECT_EQ(why({"width=4", "scale=1000"}, 0x1p-70, {1, 4}),
            "a position must be a multiple of 2^-64 where scale is above 1, got "
            "8.470329472543003e-22");
}

TEST(fast_rows, InterleaveAndAddOnEveryTarget) {
  OnEveryTarget([] {
    for (size_t count = 0; count < 40; ++count) {
      std::vector<float> first(count), second(count), out(2 * count + 1, -1), sum(count + 1, -1);
      for (size_t i = 0; i < count; ++i) {
        first[i] = static_cast<float>(i);
        second[i] = static_cast<float>(i) + 0.5f;
      }
      fast::Interleave(Dtype::f32, first.data(), second.data(), count, out.data());
      fast::AddRow(Dtype::f32, first.data(), second.data(), count, sum.data());
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(out[2 * i], first[i]);
        EXPECT_EQ(out[2 * i + 1], second[i]);
        EXPECT_EQ(sum[i], first[i] + second[i]);
      }
      EXPECT_EQ(out.back(), -1);
      EXPECT_EQ(sum.back(), -1);
    }
  });
}

}  // namespace
}  // namespace posgauge
