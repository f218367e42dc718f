#include "posgauge/verify/isolated_library.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>

#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/kernel_call.h"
#include "posgauge/verify/kernel_list.h"
#include "posgauge/verify/library.h"

namespace posgauge {

namespace {

// More than any library has: a count that came from the process is not believed beyond it.
constexpr uint32_t kMostKernels = 1 << 16;

int32_t RunElsewhere(const posgauge_call*, char* why, size_t why_size) {
  constexpr std::string_view kWhy = "the kernel runs in another process";
  if (why_size > 0) why[kWhy.copy(why, why_size - 1)] = '\0';
  return POSGAUGE_FAILED;
}

posgauge_kernel ReadDescriptor(child::Reader reader, std::deque<std::string>& texts) {
  posgauge_kernel kernel = {};
  kernel.size = reader.Take<uint32_t>();
  if (!IsDescriptorSize(kernel.size)) return kernel;
  for (const char** text :
       {&kernel.name, &kernel.schemes, &kernel.quantity, &kernel.inputs, &kernel.outputs,
        &kernel.pairings, &kernel.contract, &kernel.invariances}) {
    const bool is_there = reader.Take<bool>();
    texts.push_back(reader.TakeText());
    if (is_there) *text = texts.back().c_str();
  }
  if (reader.Take<bool>()) kernel.run = RunElsewhere;
  kernel.in_place = reader.Take<int32_t>();
  kernel.largest_rotary_dim = reader.Take<int64_t>();
  kernel.largest_position = reader.Take<double>();
  return kernel;
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace

IsolatedLibrary::IsolatedLibrary(const std::filesystem::path& library, const Isolation& isolation)
    : path_(library), isolation_(isolation) {
  Begin();
}

void IsolatedLibrary::Begin() {
  memory_.TakeLastWords();
  process_ = std::make_unique<ChildProcess>(
      isolation_.host, std::vector<std::string>{std::filesystem::absolute(path_).string()},
      memory_.descriptor());
  const auto receive = [&] {
    ChildProcess::Received received =
        process_->Receive(isolation_.time_limit, isolation_.memory_limit);
    if (received.event == ChildProcess::Event::packet) return std::move(received.packet);
    const std::string what = received.event == ChildProcess::Event::ended ? Ended().what
                             : received.event == ChildProcess::Event::late
                                 ? fmt::format("took more than {:g} s", isolation_.time_limit)
                                 : "took too much memory";
    throw FileError(fmt::format("cannot load kernel library {}: while it was loaded it {}",
                                path_.string(), what));
  };
  try {
    const child::Loaded loaded = child::Loaded::From(receive());
    RequireKernels(path_, loaded.result, Printable(loaded.text));
    if (loaded.count > kMostKernels) throw child::MalformedMessage();
    // A process that is begun again loads what was loaded before.
    std::deque<std::string> texts;
    std::vector<posgauge_kernel> descriptors;
    for (uint32_t i = 0; i < loaded.count; ++i) {
      const std::string packet = receive();
      descriptors.push_back(ReadDescriptor(child::Reader(packet), texts));
      if (!IsDescriptorSize(descriptors.back().size)) break;  // the list ends there
    }
    if (!descriptors_.empty()) {
      if (descriptors.size() != descriptors_.size()) throw child::MalformedMessage();
      return;
    }
    texts_ = std::move(texts);
    descriptors_ = std::move(descriptors);
  } catch (const child::MalformedMessage&) {
    throw FileError(fmt::format(
        "cannot load kernel library {}: its process sent no list of kernels", path_.string()));
  }
}

// ", after printing "..."", for a process that died.
std::string IsolatedLibrary::Quote() {
  constexpr size_t kMost = 200;
  const std::string line = Printable(process_->LastLine());
  if (line.empty()) return "";
  return fmt::format(", after it printed '{}'",
                     line.size() > kMost ? line.substr(0, kMost) + "..." : line);
}

// What is known of a process that is no more.
IsolatedLibrary::Outcome IsolatedLibrary::Ended() {
  const int status = process_->End();
  Outcome outcome{.last_words = memory_.TakeLastWords()};
  switch (outcome.last_words.ending) {
    case child::Ending::lost_descriptors:
      outcome.failure = Failure::descriptors;
      outcome.what = "closed file descriptors that are not its own";
      break;
    default:
      if (WIFEXITED(status)) {
        outcome.failure = Failure::exit;
        outcome.what = fmt::format("ended its process with exit code {}", WEXITSTATUS(status));
        break;
      }
      outcome.failure = Failure::crash;
      outcome.what = fmt::format("was ended by {}", SignalName(WTERMSIG(status)));
      if (WTERMSIG(status) == SIGKILL) outcome.what += " (from the system, where memory runs out)";
  }
  outcome.what += Quote();
  process_.reset();
  return outcome;
}

IsolatedLibrary::Outcome IsolatedLibrary::Run(child::Call call) {
  if (const auto at = given_up_.find(call.kernel); at != given_up_.end()) {
    throw Unsupported(at->second);
  }
  if (!process_) {
    try {
      Begin();
    } catch (const Error& error) {
      process_.reset();
      return {.failure = Failure::crash, .what = fmt::format("once more: {}", error.what())};
    }
  }
  call.number = ++calls_;
  const std::string packet = call.Bytes();
  Require(packet.size() <= child::kLargestMessage, "a call of {} bytes, at most {} are sent",
          packet.size(), child::kLargestMessage);
  process_->Send(packet);
  const auto give_up = [&](Failure failure, std::string what) {
    given_up_[call.kernel] = fmt::format("not called again: it {}", what);
    what += Quote();
    process_.reset();
    return Outcome{.failure = failure, .what = std::move(what)};
  };
  const ChildProcess::Received received =
      process_->Receive(isolation_.time_limit, isolation_.memory_limit);
  switch (received.event) {
    case ChildProcess::Event::ended:
      return Ended();
    case ChildProcess::Event::late:
      return give_up(Failure::hang,
                     fmt::format("did not return within {:g} s", isolation_.time_limit));
    case ChildProcess::Event::too_large:
      return give_up(Failure::memory,
                     fmt::format("held more than {} MiB of memory", isolation_.memory_limit >> 20));
    case ChildProcess::Event::packet:
      break;
  }
  Outcome outcome;
  try {
    outcome.answer = child::Answer::From(received.packet);
    if (outcome.answer.number != call.number) throw child::MalformedMessage();
  } catch (const child::MalformedMessage&) {
    outcome.answer.ending = child::Ending::lost_descriptors;
  }
  switch (outcome.answer.ending) {
    case child::Ending::returned:
      return outcome;
    case child::Ending::threw:
      outcome.failure = Failure::exception;
      outcome.what = fmt::format("threw a C++ exception through the C interface: {}",
                                 Printable(outcome.answer.why));
      break;
    default:
      outcome.failure = Failure::descriptors;
      outcome.what = "closed or used file descriptors that are not its own";
  }
  // What an exception left half done, or who else answers, is not known.
  process_.reset();
  return outcome;
}

}  // namespace posgauge
