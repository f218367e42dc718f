// The shipped vectors: regenerated, and held to digits that were computed elsewhere.
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "posgauge/golden/check.h"

namespace posgauge::golden {
namespace {

namespace fs = std::filesystem;

const fs::path kVectors = fs::path(POSGAUGE_SOURCE_DIR) / "golden/vectors";

TEST(golden_vectors, AreRegeneratedByteForByteAndAllDecided) {
  const Check check = CheckGolden(kVectors);
  for (const Difference& difference : check.differences) {
    ADD_FAILURE() << difference.file << ": " << difference.what;
  }
  EXPECT_GT(check.values, 50'000);
  EXPECT_EQ(check.proof.undecided, 0);
  EXPECT_EQ(check.proof.Total(), check.values);
}

TEST(golden_vectors, StaySmall) {
  uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kVectors)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LT(bytes, uintmax_t{20} << 20);
}

// An output of a shipped case.
struct Shipped {
  Shipped(const std::string& file, const std::string& id, const std::string& output) {
    const Manifest manifest = ReadManifest(kVectors / (file + ".json"));
    for (const Case& golden_case : manifest.cases) {
      if (golden_case.id == id) roundings = golden_case.outputs.at(output);
    }
  }
  double operator()(size_t index, Dtype dtype = Dtype::f64) const {
    return roundings.at(dtype).values.Value(index);
  }
  std::map<Dtype, Rounding> roundings;
};

// glibc's strtod rounds a decimal of any length correctly.
double Decimal(const char* digits) { return std::strtod(digits, nullptr); }

// Digits from a computation with 60 decimal digits, in no part this one.
TEST(golden_vectors, FrequenciesHaveTheDigitsComputedElsewhere) {
  const Shipped base_10000("rope/llama-2-7b", "frequencies", "frequencies");
  EXPECT_EQ(base_10000(1), Decimal("0.8659643233600653523531691834"));
  EXPECT_EQ(base_10000(63), Decimal("1.1547819846894581796664828e-4"));
  const Shipped base_500000("rope/hard-to-round-base-500000", "frequencies", "frequencies");
  EXPECT_EQ(base_500000(32), Decimal("1.4142135623730950488016887e-3"));
  const Shipped base_1000000("rope/mistral-7b-v0-3", "frequencies", "frequencies");
  EXPECT_EQ(base_1000000(63), Decimal("1.24093776075171956609870735e-6"));
  const Shipped base_150000("rope/gpt-oss-base", "frequencies", "frequencies");
  EXPECT_EQ(base_150000(17), Decimal("1.7791047476692703473945854e-3"));
  const Shipped llama3("llama3/llama-3-1-8b", "frequencies", "frequencies");
  EXPECT_EQ(llama3(28), Decimal("3.2114459947525910185434e-3"));
  EXPECT_EQ(llama3(29), Decimal("2.1665707635033586093415e-3"));
  EXPECT_EQ(llama3(31), Decimal("8.5675141291963208107433e-4"));
  EXPECT_EQ(llama3(34), Decimal("1.7850781276799641852367e-4"));
  EXPECT_EQ(llama3(35), Decimal("9.5562123539646830198683e-5"));
  EXPECT_EQ(llama3(63), Decimal("3.0689259889145110890524e-7"));
  const Shipped gpt_oss("yarn/gpt-oss-120b", "frequencies", "frequencies");
  EXPECT_EQ(gpt_oss(17), Decimal("0.0001293187012450627206078607612838930195263"));
  const Shipped hunyuan("ntk/hunyuan-a13b", "frequencies", "frequencies");
  EXPECT_EQ(hunyuan(1), Decimal("0.7760343630469744112979767804420877661403"));
  const Shipped aware("ntk/aware-2", "frequencies", "frequencies");
  EXPECT_EQ(aware(63), Decimal("0.00005773909923447290898332414436477541407835"));
  const Shipped naive("ntk/naive-2", "frequencies", "frequencies");
  EXPECT_EQ(naive(63), Decimal("0.0000583678368024046035400818703780508058874"));
  const Shipped linear("linear/gemma-3-27b-full", "frequencies", "frequencies");
  EXPECT_EQ(linear(1), Decimal("0.100730273470185227125321924467597240362"));
}

// Five significant digits from the tests of transformers.
TEST(golden_vectors, FrequenciesAgreeWithPublishedSnapshots) {
  const auto digits = [](double value) { return fmt::format("{:.5g}", value); };
  const Shipped dynamic("ntk/dynamic-10", "frequencies", "frequencies");
  EXPECT_EQ(digits(dynamic(1)), "0.80931");
  EXPECT_EQ(digits(dynamic(63)), "1.6265e-06");
  const Shipped yarn("yarn/factor-10", "frequencies", "frequencies");
  EXPECT_EQ(digits(yarn(17)), "0.083479");
  EXPECT_EQ(digits(yarn(40)), "0.00043007");
  const Shipped llama3("llama3/factor-10", "frequencies", "frequencies");
  EXPECT_EQ(digits(llama3(31)), "0.01073");
  EXPECT_EQ(digits(llama3(40)), "0.00034539");
}

TEST(golden_vectors, TablesHaveTheDigitsComputedElsewhere) {
  const Shipped cos("rope/hard-to-round-base-500000", "anchors", "cos");
  const Shipped sin("rope/hard-to-round-base-500000", "anchors", "sin");
  EXPECT_EQ(cos(1), Decimal(".6861468919275439955673405"));
  EXPECT_EQ(sin(1), Decimal(".7274630180965705011837724"));
  EXPECT_EQ(cos(64 + 1), Decimal(".8708706189214010799620"));
  EXPECT_EQ(sin(64 + 1), Decimal("-.4915123244634419330159"));
  EXPECT_EQ(cos(128 + 1), Decimal("-.8173161500238642727854"));
  EXPECT_EQ(sin(128 + 1), Decimal(".5761894748345965655316"));
}

TEST(golden_vectors, WorkedExampleHasTheDigitsComputedElsewhere) {
  const Shipped interleaved("rope/worked-example-interleaved", "q", "out");
  EXPECT_EQ(interleaved(0), Decimal("-1.060552500630379068321945196135316442317"));
  EXPECT_EQ(interleaved(1), Decimal("-0.3538762402403555065350415945575203713499"));
  EXPECT_EQ(interleaved(2), Decimal("0.7906413769384413595091244815141335931298"));
  EXPECT_EQ(interleaved(3), Decimal("0.3238614102866927737313018665495803798322"));
  EXPECT_EQ(interleaved.roundings.at(Dtype::f64).distances.Values(),
            (std::vector<double>{6800, 18066, -16222, -27288}));
  const Shipped half("rope/worked-example-half", "q", "out");
  EXPECT_EQ(half(0), Decimal("-1.102888503048339241219155924311839781568"));
  EXPECT_EQ(half(1), Decimal("0.490776366813745060238538400255020710285"));
  EXPECT_EQ(half(2), Decimal("-0.6508739892204891876810119902551611436359"));
  EXPECT_EQ(half(3), Decimal("0.314862760225944074168676165573332775218"));
  EXPECT_EQ(half.roundings.at(Dtype::f64).distances.Values(),
            (std::vector<double>{16479, 29508, 21508, 16086}));
}

TEST(golden_vectors, YarnsMagnitudeActsOnQueryAndKey) {
  const Shipped magnitude("yarn/worked-example", "magnitude", "magnitude");
  EXPECT_EQ(magnitude(0), Decimal("1.27725887222397812376689284858327062723"));  // 0.1 ln 16 + 1
  EXPECT_EQ(magnitude.roundings.at(Dtype::f64).distances.Value(0), -10369);
  const Shipped q("yarn/worked-example", "q", "out");
  EXPECT_EQ(q(0), Decimal("-1.354600090889477816984777402843393404495"));
  EXPECT_EQ(q(3), Decimal("0.399413359604368992271285568095420157608"));
  const Shipped k("yarn/worked-example", "k", "out");
  EXPECT_EQ(k(0), Decimal("1.419829237991511627621863295388010461593"));
  EXPECT_EQ(k(3), Decimal("2.55617804835503197637579522667419607239"));
  const Shipped score("yarn/worked-example", "score", "scores");
  EXPECT_EQ(score(0), Decimal("-0.2614010160469704287514270740223005819574"));
}

TEST(golden_vectors, MagnitudesFollowTheirRule) {
  const auto value = [](const std::string& file, const std::string& output) {
    return Shipped("yarn/" + file, "magnitude", output)(0);
  };
  EXPECT_EQ(value("gpt-oss-120b", "magnitude"), Decimal("1.346573590279972654708616060729088284"));
  for (const char* pure : {"deepseek-v3", "deepseek-v2-lite", "kimi-k2", "ministral-3-3b",
                           "magnitude-none", "factor-one"}) {
    EXPECT_EQ(value(pure, "magnitude"), 1) << pure;
  }
  EXPECT_EQ(value("deepseek-v3", "softmax_multiplier"),
            Decimal("1.873854207092626587463763862657710799894"));
  EXPECT_EQ(value("deepseek-v2-lite", "softmax_multiplier"),
            Decimal("1.589626165120873475406077229695629169713"));
  EXPECT_EQ(value("mscale-huggingface", "magnitude"),
            Decimal("1.368887945411393630285245569760071734375"));
  EXPECT_EQ(value("mscale-deepseek", "magnitude"),
            Decimal("1.260803777405855282523221184537911438475"));
  EXPECT_EQ(value("magnitude-telechat3", "magnitude"),
            Decimal("1.145560907917588514977618745506217079296"));
  EXPECT_EQ(value("attention-multiplier", "magnitude"),
            Decimal("0.7426015131959808582960312425103617988264"));
  EXPECT_EQ(value("attention-factor", "magnitude"), 1.4852);
}

// Found by rounding every entry of positions below 2^20 with proof.
TEST(golden_vectors, HardEntriesAreRoundedRight) {
  const Shipped cos_500000("rope/hard-to-round-base-500000", "binary32", "cos");
  EXPECT_EQ(cos_500000(19, Dtype::f32), -0x1.8c0496p-3);
  // 2^-31.67 ulp from a midpoint: the binary64 value is that midpoint, and tells nothing.
  EXPECT_EQ(cos_500000(19), -0x1.8c0495p-3);
  EXPECT_EQ(static_cast<float>(cos_500000(19)), -0x1.8c0494p-3f);
  const Shipped cos_10000("rope/hard-to-round-base-10000", "binary32", "cos");
  EXPECT_EQ(cos_10000(62), Decimal("-0.0554177742451429417907073858903"));
  const Shipped sin_10000("rope/hard-to-round-base-10000", "binary64", "sin");
  EXPECT_EQ(sin_10000(18), 0x1.f88982610d92ep-1);
  const Shipped sin_500000("rope/hard-to-round-base-500000", "binary64", "sin");
  EXPECT_EQ(sin_500000(45), -0x1.81c389c6a4ef9p-2);
  for (const auto& [shipped, pair, dtype] : {std::tuple(&cos_500000, 19, Dtype::f32),
                                             {&cos_10000, 62, Dtype::f32},
                                             {&sin_10000, 18, Dtype::f64},
                                             {&sin_500000, 45, Dtype::f64}}) {
    const double distance = shipped->roundings.at(dtype).distances.Value(static_cast<size_t>(pair));
    EXPECT_EQ(std::fabs(distance), 32768) << "half an ulp, to 2^-16";
  }
}

}  // namespace
}  // namespace posgauge::golden
