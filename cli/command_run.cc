#include "posgauge/cli/command_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "posgauge/schemes/base/error.h"

namespace posgauge::cli {

namespace {

// The child's end and requests to stop wait for WaitFor, until this goes.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigemptyset(&held_);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&held_, signal);
    // Where SIGCHLD is ignored, as some parents leave it, the end of a child leaves nothing to
    // read.
    child_action_ = std::signal(SIGCHLD, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~SignalsHeld() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    std::signal(SIGCHLD, child_action_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  const sigset_t& held() const { return held_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_, before_;
  void (*child_action_)(int) = SIG_DFL;
};

pid_t Start(const std::string& line, const std::string& first, const std::string& second,
            const sigset_t& mask) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &mask);
  const std::string script = line + " \"$@\"";
  const std::array<const char*, 7> arguments = {
      "sh", "-c", script.c_str(), "posgauge", first.c_str(), second.c_str(), nullptr};
  pid_t child = -1;
  const int error = posix_spawn(&child, "/bin/sh", &actions, &attributes,
                                const_cast<char* const*>(arguments.data()), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw FileError(fmt::format("/bin/sh: cannot start: {}", std::strerror(error)));
  return child;
}

// Until the child has ended (exited, and left for waitpid to reap) or must be.
CommandEnd WaitFor(pid_t child, const sigset_t& held, double time_limit) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(time_limit);
  for (;;) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child) {
      return {info.si_code == CLD_EXITED ? CommandEnd::How::exited : CommandEnd::How::signalled,
              info.si_status};
    }
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left <= 0) return {CommandEnd::How::timed_out, 0};
    const timespec wait = {static_cast<time_t>(left),
                           static_cast<long>(1e9 * (left - std::floor(left)))};
    const int signal = sigtimedwait(&held, nullptr, &wait);
    if (signal == SIGINT || signal == SIGTERM) return {CommandEnd::How::interrupted, signal};
  }
}

}  // namespace

std::string CommandEnd::Text() const {
  switch (how) {
    case How::exited:
      // A shell says so of what a signal ended.
      return number > 128 ? fmt::format("exited with {} (signal {}, {}, in the shell's words)",
                                        number, number - 128, strsignal(number - 128))
                          : fmt::format("exited with {}", number);
    case How::signalled:
      return fmt::format("was ended by signal {} ({})", number, strsignal(number));
    case How::timed_out:
      return "did not end in time";
    default:
      return fmt::format("was interrupted ({})", strsignal(number));
  }
}

CommandEnd RunCommand(const std::string& line, const std::filesystem::path& first,
                      const std::filesystem::path& second, double time_limit) {
  const SignalsHeld signals;
  const pid_t child = Start(line, first, second, signals.before());
  const CommandEnd end = WaitFor(child, signals.held(), time_limit);
  // The child is not reaped yet, so that its number cannot be another group's.
  kill(-child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return end;
}

}  // namespace posgauge::cli
