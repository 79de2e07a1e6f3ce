// SPDX-License-Identifier: Apache-2.0
#include "isolation/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): not every system declares it

namespace penstock::hdf5 {

namespace {

// Returns the environment without the variables that say where the library finds plugins. Adds HDF5_PLUGIN_PRELOAD with
// the value "::", which turns plugins off.
std::vector<std::string> environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (const std::string_view text = *entry; !text.starts_with("HDF5_PLUGIN_")) kept.emplace_back(text);
  kept.emplace_back("HDF5_PLUGIN_PRELOAD=::");
  return kept;
}

class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  // The child process inherits no signal settings from this process. It gets a process group of its own, so that it
  // does not receive a Ctrl-C.
  void set(int socket) {
    sigset_t none{}, all{};
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const noexcept { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

std::string name_of(int signal) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
  if (const char* name = ::sigdescr_np(signal); name != nullptr) return std::to_string(signal) + " (" + name + ")";
#endif
  return std::to_string(signal);
}

}  // namespace

ReaderProcess::~ReaderProcess() {
  if (started() && owner_ == ::getpid())
    finish();
  else if (socket_ >= 0)
    ::close(socket_);
}

void ReaderProcess::start(const std::string& program, std::uint64_t memory_bytes) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "a socket can't be had");
  int failed = 0;
  try {
    // If a descriptor is duplicated to its own number, some C libraries still close it at exec. So the numbers of both
    // ends must be above standard error.
    for (int& end : ends)
      if (end <= STDERR_FILENO) {
        const int higher = ::fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (higher < 0) throw std::system_error(errno, std::generic_category(), "a descriptor can't be had");
        ::close(std::exchange(end, higher));
      }
    SpawnAttributes how;
    how.set(ends[1]);
    std::string name = program, memory = std::to_string(memory_bytes);
    char* arguments[] = {name.data(), memory.data(), nullptr};
    std::vector<std::string> texts = environment();
    std::vector<char*> variables;
    for (std::string& text : texts) variables.push_back(text.data());
    variables.push_back(nullptr);
    failed = ::posix_spawn(&pid_, program.c_str(), how.actions(), how.attributes(), arguments, variables.data());
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    pid_ = -1;
    throw std::system_error(failed, std::generic_category(), program + " can't be started");
  }
  socket_ = ends[0];
  owner_ = ::getpid();
}

bool ReaderProcess::running() const noexcept {
  if (!started()) return false;
  pollfd state{socket_, POLLIN | POLLRDHUP, 0};
  // No question is open, so any event means that the process has ended or is not working properly.
  return ::poll(&state, 1, 0) <= 0;
}

void ReaderProcess::wait_for(short events, Time until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) throw NoAnswer{true};
    pollfd state{socket_, events, 0};
    if (::poll(&state, 1, static_cast<int>(std::min<std::int64_t>(left, 1 << 30))) > 0) return;
  }
}

void ReaderProcess::send(std::span<const std::byte> bytes, Time until) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      wait_for(POLLOUT, until);
    else if (errno != EINTR)
      throw NoAnswer{};
  }
}

void ReaderProcess::receive(std::span<std::byte> bytes, Time until) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
      // Slow bytes must not extend the time for the whole answer.
      if (std::chrono::steady_clock::now() > until) throw NoAnswer{true};
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(POLLIN, until);
    } else if (got == 0 || errno != EINTR) {
      throw NoAnswer{};
    }
  }
}

bool ReaderProcess::wait_for_end(std::chrono::milliseconds most, int& status) noexcept {
  const auto until = std::chrono::steady_clock::now() + most;
  auto pause = std::chrono::microseconds(50);
  while (true) {
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) return true;
    if (ended < 0 && errno != EINTR) {  // other code of this program has already waited for the process
      status = -1;
      return true;
    }
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(2000));
  }
}

std::string ReaderProcess::finish() noexcept {
  using std::chrono::milliseconds;
  if (!started()) return {};  // with pid_ -1, all child processes would be waited for, and killed
  int status = -1;
  bool ours = false;  // whether this function ended the process
  // A process that has closed its socket is about to end, so it gets time. Other processes get none.
  pollfd state{socket_, POLLRDHUP, 0};
  const bool leaving = ::poll(&state, 1, 0) > 0;
  ::close(std::exchange(socket_, -1));
  if (!wait_for_end(milliseconds(leaving ? 1000 : 0), status)) {
    ours = true;
    ::kill(pid_, SIGKILL);
    // A process that waits for a broken disk can't end yet. It will end later.
    wait_for_end(milliseconds(2000), status);
  }
  pid_ = -1;
  try {
    if (ours || status == -1) return "was ended";
    if (WIFSIGNALED(status)) return "was ended by signal " + name_of(WTERMSIG(status));
    return "ended with status " + std::to_string(WEXITSTATUS(status));
  } catch (...) {
    return {};
  }
}

}  // namespace penstock::hdf5
