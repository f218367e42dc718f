#include "posgauge/verify/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/child_protocol.h"

namespace posgauge {

namespace {

using Clock = std::chrono::steady_clock;

// Bytes of standard error that are kept: the last line, unless it is an essay.
constexpr size_t kTail = 4096;

// How often a call that runs is looked at: its time, its memory.
constexpr std::chrono::milliseconds kWatch(50);

// How long a process may take to end that is told to.
constexpr std::chrono::milliseconds kFarewell(200);

[[noreturn]] void Refuse(const std::filesystem::path& program, const char* what, int error) {
  throw FileError(fmt::format("{}: {}: {}", program.string(), what, std::strerror(error)));
}

// The environment, with the cache of small blocks off, which glibc hands out unpoisoned.
std::vector<std::string> Environment() {
  constexpr std::string_view kTunables = "GLIBC_TUNABLES=";
  std::string tunables = std::string(kTunables) + "glibc.malloc.tcache_count=0";
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(kTunables)) {
      all.emplace_back(text);
    } else if (text.size() > kTunables.size()) {
      tunables += ":" + std::string(text.substr(kTunables.size()));
    }
  }
  all.push_back(std::move(tunables));
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct SpawnSettings {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

// The same file, by a number at which dup2 to a small one cannot meet it.
int Above(int file) {
  const int copy = fcntl(file, F_DUPFD_CLOEXEC, child::kMemory + 1);
  close(file);
  return copy;
}

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments, int file) {
  if (access(program.c_str(), X_OK) != 0) Refuse(program, "cannot be run", errno);
  std::array<int, 2> sockets{}, pipe{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    Refuse(program, "socketpair", errno);
  }
  socket_ = sockets[0];
  const int theirs = Above(sockets[1]);
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    close(socket_);
    close(theirs);
    Refuse(program, "pipe", error);
  }
  errors_ = pipe[0];
  fcntl(errors_, F_SETFL, O_NONBLOCK);
  const int their_errors = Above(pipe[1]);
  const int their_memory = fcntl(file, F_DUPFD_CLOEXEC, child::kMemory + 1);
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&settings.files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.files, their_errors, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&settings.files, theirs, child::kSocket);
  posix_spawn_file_actions_adddup2(&settings.files, their_memory, child::kMemory);
  posix_spawn_file_actions_addclosefrom_np(&settings.files, child::kMemory + 1);
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = Environment();
  const int error = posix_spawn(&id_, program.c_str(), &settings.files, &settings.attributes,
                                Pointers(words).data(), Pointers(environment).data());
  for (const int given : {theirs, their_errors, their_memory}) close(given);
  // glibc 2.36 declares pidfd_open for C only.
  if (error == 0) watch_ = static_cast<int>(syscall(SYS_pidfd_open, id_, 0));
  if (error == 0 && watch_ >= 0) return;
  const int reason = error == 0 ? errno : error;
  if (error == 0) End();
  close(socket_);
  close(errors_);
  Refuse(program, "cannot be run", reason);
}

ChildProcess::~ChildProcess() {
  // One that waits for a packet ends by itself, and lets its library tidy up.
  close(socket_);
  if (!has_ended_) {
    pollfd file = {watch_, POLLIN, 0};
    poll(&file, 1, static_cast<int>(kFarewell.count()));
  }
  End();
  for (const int ours : {errors_, watch_}) close(ours);
}

void ChildProcess::Send(std::string_view packet) const {
  while (send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

// True with a packet, of which an end of the stream is none.
bool ChildProcess::TakePacket(std::string& packet) {
  packet.resize(child::kLargestMessage);
  const ssize_t size = recv(socket_, packet.data(), packet.size(), MSG_DONTWAIT);
  if (size > 0) {
    packet.resize(static_cast<size_t>(size));
    return true;
  }
  packet.clear();
  if (size == 0 || (errno != EAGAIN && errno != EINTR)) is_connected_ = false;
  return false;
}

uint64_t ChildProcess::ResidentBytes() const {
  uint64_t total = 0, resident = 0, shared = 0;  // pages
  std::ifstream(fmt::format("/proc/{}/statm", id_)) >> total >> resident >> shared;
  return (resident - std::min(resident, shared)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

ChildProcess::Received ChildProcess::Receive(double seconds, uint64_t memory_limit) {
  const auto begin = Clock::now(), end = begin + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
  auto look = begin + kWatch;
  Received received{Event::packet, {}};
  for (;;) {
    std::array<pollfd, 3> files = {
        {{watch_, POLLIN, 0},
         {errors_are_open_ ? errors_ : -1, POLLIN, 0},
         // Once the other end is closed the process' own end is waited for.
         {is_connected_ ? socket_ : -1, POLLIN, 0}}};
    const int ready = poll(files.data(), files.size(), static_cast<int>(kWatch.count()));
    if (files[1].revents != 0) ReadErrors();
    if (is_connected_ && files[2].revents != 0 && TakePacket(received.packet)) return received;
    if (ready > 0 && files[0].revents != 0) {
      // What it sent before it ended counts.
      if (is_connected_ && TakePacket(received.packet)) return received;
      received.event = Event::ended;
      return received;
    }
    const auto now = Clock::now();
    if (now >= end) {
      received.event = Event::late;
      return received;
    }
    if (now < look) continue;
    look = now + kWatch;
    if (memory_limit != 0 && ResidentBytes() > memory_limit) {
      received.event = Event::too_large;
      return received;
    }
  }
}

int ChildProcess::End() {
  if (has_ended_) return status_;
  // One that has ended by itself keeps how it did until it is waited for.
  kill(id_, SIGKILL);
  while (waitpid(id_, &status_, 0) < 0 && errno == EINTR) continue;
  has_ended_ = true;
  ReadErrors();
  return status_;
}

void ChildProcess::ReadErrors() {
  std::array<char, kTail> read_now;
  for (int count = 0; count < 64; ++count) {  // a writer that never rests is read later
    const ssize_t size = read(errors_, read_now.data(), read_now.size());
    if (size == 0) errors_are_open_ = false;
    if (size <= 0) break;
    tail_.append(read_now.data(), static_cast<size_t>(size));
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }
}

std::string ChildProcess::LastLine() {
  ReadErrors();
  std::string_view text = tail_;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const size_t begin = text.rfind('\n');
  if (begin != std::string_view::npos) text.remove_prefix(begin + 1);
  return std::string(text);
}

}  // namespace posgauge
