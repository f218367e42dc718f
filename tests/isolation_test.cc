// Kernels in a process of their own: whatever they do has a name, and everything goes on.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "posgauge/verify/check.h"
#include "posgauge/verify/library.h"
#include "posgauge/verify/report.h"

namespace posgauge {
namespace {

const Isolation kIsolation = {
    .host = POSGAUGE_KERNEL_HOST, .time_limit = 60, .memory_limit = 100 << 20};

// Loading comes under the limit too, on a machine that may be busy.
const Isolation kShort = {.host = POSGAUGE_KERNEL_HOST, .time_limit = 1};

// The kernels of tests/hostile_kernels.cc, in one process for all that a test asks of them.
class Hostile {
 public:
  explicit Hostile(const Isolation& isolation = kIsolation)
      : kernels_(LoadKernels(POSGAUGE_HOSTILE_KERNELS, isolation)) {}

  KernelCheck Check(const std::string& name, std::vector<double> positions = {0, 1, 5}) const {
    const auto info = std::ranges::find(kernels_, name, &KernelInfo::name);
    Require(info != kernels_.end(), "no kernel {}", name);
    const Subject subject(*info, ParseScheme("rope", {"head_dim=8"}));
    return CheckKernels({subject}, {std::move(positions), 2, 1, 2}).front();
  }

 private:
  std::vector<KernelInfo> kernels_;
};

struct Deed {
  std::string kernel;
  Failure failure;
  std::string says;  // a part of the note
};

TEST(isolation, EveryDeedHasItsVerdictAndTheNextCallPasses) {
  const Hostile hostile;
  const std::vector<Deed> deeds = {
      {"crash", Failure::crash,
       "was ended by SIGSEGV, at address 0x10; called with x [3, 2, 8] f32"},
      {"jump", Failure::crash, "was ended by SIGSEGV, at address 0x20"},
      {"overflow_stack", Failure::crash, "was ended by SIGSEGV, at address 0x"},
      {"leave", Failure::exit, "ended its process with exit code 0"},
      {"abort", Failure::crash, "was ended by SIGABRT, after it printed 'no such luck'"},
      {"throw", Failure::exception, "exception through the C interface: not here"},
      {"throw_number", Failure::exception, "exception through the C interface"},
      {"write_beyond", Failure::overrun, "wrote to memory outside out: after its end"},
      {"write_before", Failure::overrun,
       "wrote memory 4 bytes before the beginning of out: it was ended by SIGSEGV"},
      {"read_beyond", Failure::overrun,
       "read memory right after the end of x: it was ended by SIGSEGV"},
      {"read_before", Failure::overrun,
       "read memory 4 bytes before the beginning of x: it was ended by SIGSEGV"},
      {"scribble", Failure::input_written,
       "wrote to its input x, at byte 4 of 192: it was ended by SIGSEGV"},
      {"leave_tail", Failure::unwritten,
       "left 1 of 48 elements of out unwritten, the first at [2, 1, 7]"},
      {"use_heap", Failure::unstable,
       "two identical runs differ: 1 of 48 elements of out, the first at [0, 0, 0]"},
      {"use_stack", Failure::unstable, "two identical runs differ: 1 of 48"},
      {"alternate", Failure::unstable, "two identical runs differ: 1 of 48"},
      {"move_results", Failure::unstable, "it declares alignment"},
      {"close_files", Failure::descriptors, "closed file descriptors that are not its own"},
      {"allocate", Failure::memory, "held more than 100 MiB of memory"},
      {"change_answer", Failure::answered, "answered 2 when called a second time: not again"}};
  for (const Deed& deed : deeds) {
    const Verdict verdict = hostile.Check("hostile." + deed.kernel).keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::fail) << deed.kernel;
    ASSERT_TRUE(verdict.failure) << deed.kernel << ": " << FailureText(verdict);
    EXPECT_EQ(VariantName(*verdict.failure), VariantName(deed.failure)) << verdict.note;
    EXPECT_NE(verdict.note.find(deed.says), std::string::npos) << verdict.note;
    EXPECT_EQ(hostile.Check("honest.rotate").keeps_contract.outcome, Outcome::pass) << deed.kernel;
  }
}

TEST(isolation, WhatIsLawfulPasses) {
  const Hostile hostile;
  for (const char* kernel :
       {"odd.move_results", "odd.want_alignment", "odd.print", "odd.return_twice"}) {
    const Verdict verdict = hostile.Check(kernel).keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::pass) << FailureText(verdict);
  }
}

// It would take as long again, for every law.
TEST(isolation, WhatHungIsNotCalledAgain) {
  const Hostile hostile(kShort);
  const Verdict verdict = hostile.Check("hostile.loop").keeps_contract;
  EXPECT_EQ(verdict.outcome, Outcome::fail);
  EXPECT_EQ(verdict.failure, Failure::hang);
  EXPECT_NE(verdict.note.find("hostile.loop did not return within 1 s"), std::string::npos);
  const Verdict again = hostile.Check("hostile.loop").keeps_contract;
  EXPECT_EQ(again.outcome, Outcome::unsupported);
  EXPECT_EQ(again.note, "not called again: it did not return within 1 s");
  EXPECT_EQ(hostile.Check("honest.rotate").keeps_contract.outcome, Outcome::pass);
}

// Slots of the shared memory grow, and what a smaller call finds in them is not taken for a result.
TEST(isolation, CallsOfAllSizesInTurn) {
  const Hostile hostile;
  for (const int count : {1, 4000, 2, 9000, 1}) {
    std::vector<double> positions;
    for (int i = 0; i < count; ++i) positions.push_back(i);
    EXPECT_EQ(hostile.Check("honest.rotate", positions).keeps_contract.outcome, Outcome::pass);
    EXPECT_EQ(hostile.Check("hostile.leave_tail", positions).keeps_contract.failure,
              Failure::unwritten);
    EXPECT_EQ(hostile.Check("hostile.read_beyond", positions).keeps_contract.failure,
              Failure::overrun);
  }
}

int OpenDescriptors() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST(isolation, NothingIsLeftBehind) {
  const int before = OpenDescriptors();
  for (int n = 0; n < 3; ++n) {
    const Hostile hostile;
    EXPECT_EQ(hostile.Check("hostile.crash").keeps_contract.failure, Failure::crash);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

std::string LoadingError(const char* loading, Isolation isolation = kIsolation) {
  if (loading != nullptr) setenv("POSGAUGE_TEST_LOADING", loading, 1);
  std::string message;
  try {
    LoadKernels(POSGAUGE_HOSTILE_KERNELS, isolation);
  } catch (const FileError& error) {
    message = error.what();
  }
  unsetenv("POSGAUGE_TEST_LOADING");
  return message;
}

TEST(isolation, LoadingIsNoDangerEither) {
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"crash", "while it was loaded it was ended by SIGABRT"},
      {"exit", "while it was loaded it ended its process with exit code 7"},
      {"loop", "while it was loaded it took more than 1 s"},
      {"throw", "loading it threw an exception: no kernels today"},
      {"count", "its process sent no list of kernels"}};
  for (const auto& [loading, says] : cases) {
    const bool loops = std::string_view(loading) == "loop";
    const std::string message = LoadingError(loading, loops ? kShort : kIsolation);
    EXPECT_NE(message.find("cannot load kernel library"), std::string::npos) << loading;
    EXPECT_NE(message.find(says), std::string::npos) << message;
  }
  Isolation without_host = kIsolation;
  without_host.host = "/absent/posgauge-kernel-host";
  EXPECT_EQ(LoadingError(nullptr, without_host),
            "/absent/posgauge-kernel-host: cannot be run: No such file or directory");
}

// The same words from either process.
TEST(isolation, RefusesWhatHoldsNoKernels) {
  const std::filesystem::path folder = POSGAUGE_TEST_LIBRARIES;
  for (const char* name : {"absent", "wrong_SYMBOL", "wrong_VERSION", "wrong_COUNT", "wrong_NAMES",
                           "wrong_DESCRIPTOR"}) {
    const std::filesystem::path library = folder / fmt::format("{}.so", name);
    const auto refusal = [](auto load) -> std::string {
      try {
        load();
      } catch (const Error& error) {
        return error.what();
      }
      return "";
    };
    const std::string here = refusal([&] { LoadKernels(library); });
    EXPECT_EQ(refusal([&] { LoadKernels(library, kIsolation); }), here);
    EXPECT_NE(here, "");
  }
}

TEST(isolation, MessagesThatAreTooShortAreRefused) {
  const child::Call call{.number = 3,
                         .kernel = 1,
                         .scheme = "rope",
                         .scalars = {{"base", 1e4}},
                         .inputs = {{.name = "x", .shape = {2, 3}, .strides = {3, 1}}},
                         .outputs = {{.name = "out", .shape = {1}, .strides = {1}}}};
  const std::string bytes = call.Bytes();
  const child::Call read = child::Call::From(bytes);
  EXPECT_EQ(read.Bytes(), bytes);
  EXPECT_EQ(read.inputs[0].strides, call.inputs[0].strides);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(child::Call::From(bytes.substr(0, size)), child::MalformedMessage) << size;
  }
  const std::string answer = child::Answer{.number = 9, .why = "because"}.Bytes();
  EXPECT_EQ(child::Answer::From(answer).why, "because");
  for (size_t size = 0; size < answer.size(); ++size) {
    EXPECT_THROW(child::Answer::From(answer.substr(0, size)), child::MalformedMessage) << size;
  }
}

}  // namespace
}  // namespace posgauge
