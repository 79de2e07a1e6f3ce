// SPDX-License-Identifier: Apache-2.0
#include "gpu_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>

#include "batches.hpp"
#include "kernels.hpp"
#include "steps.hpp"

extern "C" char** environ;

namespace penstock::gpu_bench {

namespace {

using Clock = std::chrono::steady_clock;

// Returns what the child writes until it closes the pipe or the deadline has passed.
std::string read_until(int file, Clock::time_point deadline) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waited{file, POLLIN, 0};
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) return text;
    char buffer[1024];
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

}  // namespace

ChildEnd run_child(const std::string& name, int seconds) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string(), option = "--child", word = name;
  char* const arguments[] = {self.data(), option.data(), word.data(), nullptr};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int code = ::posix_spawn(&pid, self.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (code != 0) {
    ::close(ends[0]);
    throw std::runtime_error("can't start " + self);
  }
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  ChildEnd out;
  out.said = last_line(read_until(ends[0], deadline));
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      out.words = "it hung and was killed after " + std::to_string(seconds) + " s";
      return out;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
  out.words = WIFEXITED(status) ? "exit code " + std::to_string(out.exit_code)
                                : "signal " + std::to_string(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return out;
}

int trap_child() {
  constexpr BatchSize size{.rows = 8, .row_bytes = 64 << 10};
  constexpr std::uint64_t steps = 100'000;
  std::string told;
  std::optional<Errc> code;
  {
    const CudaStream stream;
    Loader loader(from(Stamped{.count = steps * size.rows, .row_bytes = size.row_bytes}) | batch(size.rows),
                  {.device = gpu(0), .threads = 2});
    std::optional<Batch> kept;
    try {
      std::uint64_t i = 0;
      for (Batch& batch : loader.epoch(stream.ref())) {
        if (++i == 5) trap(stream.handle());
        if (i == 6) kept = std::move(batch);  // a lease that ends only after the failure
      }
    } catch (const Error& error) {
      code = error.code();
      told = error.what();
    }
  }
  if (!code) {
    std::puts("no error was thrown");
    return 1;
  }
  std::printf("%s: %s\n", std::string(to_string(*code)).c_str(), told.c_str());
  return *code == Errc::device ? clean_exit : 1;
}

}  // namespace penstock::gpu_bench
