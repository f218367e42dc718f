#include "posgauge/schemes/base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/json_file.h"
#include "temporary_folder.h"

namespace posgauge {
namespace {

std::string Refusal(const std::filesystem::path& path) {
  try {
    ReadFile(path, 1 << 20);
  } catch (const FileError& error) {
    return error.what();
  }
  return "read";
}

// It would wait for ever, and the test's time limit would end it.
TEST(read_file, APipeThatNobodyWritesToIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "config.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string expected = pipe.string() + ": cannot read: a pipe that nobody writes to";
  EXPECT_EQ(Refusal(pipe), expected);
  EXPECT_THROW(ReadJson(pipe), FileError);
}

// More than a pipe's buffer, and not at once: as from a command in the shell's <(...).
TEST(read_file, APipeIsReadUntilItsWriterIsDone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string text(100'000, 'x');
  std::thread writer([&] {
    for (int part = 0; part < 3; ++part) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      size_t done = 0;
      while (done < text.size()) {
        const ssize_t written = write(ends[1], text.data() + done, text.size() - done);
        if (written <= 0) break;
        done += static_cast<size_t>(written);
      }
    }
    close(ends[1]);
  });
  const std::string read = ReadFile("/dev/fd/" + std::to_string(ends[0]), 1 << 20);
  writer.join();
  close(ends[0]);
  EXPECT_EQ(read, text + text + text);
}

TEST(read_file, DevicesAreNoFiles) {
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    EXPECT_EQ(Refusal(device),
              std::string(device) + ": cannot read: neither a regular file nor a pipe");
  }
}

}  // namespace
}  // namespace posgauge
