// SPDX-License-Identifier: Apache-2.0
#include "killed_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

extern char** environ;

namespace penstock_test {

namespace {

constexpr const char* tell_variable = "PENSTOCK_KILLED_TELLS";
constexpr unsigned max_seconds = 120;

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Child::Child(std::vector<std::string> words, const Variables& more, std::string output)
    : output_(std::move(output)), started_(Clock::now()) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  from_child_ = pipe[0];
  const int to_test = pipe[1];

  std::vector<std::string> variables{std::string(tell_variable) + "=" + std::to_string(to_test)};
  for (const auto& [name, value] : more) variables.push_back(name + "=" + value);
  for (char** given = environ; *given != nullptr; ++given) variables.emplace_back(*given);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);

  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    // Only what is allowed between fork and exec while other threads may hold locks.
    const int out = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::alarm(max_seconds);
    if (out >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 && ::dup2(out, STDERR_FILENO) >= 0 &&
        ::fcntl(to_test, F_SETFD, 0) == 0)
      ::execve(arguments[0], arguments.data(), environment.data());
    ::_exit(127);
  }
  ::close(to_test);
}

Child::~Child() {
  if (!waited_) {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(from_child_);
}

void Child::watch(std::string line, std::function<bool(pid_t)> seen) {
  watched_line_ = std::move(line);
  watched_ = std::move(seen);
}

bool Child::look() {
  if (!watched_ || !watched_(pid_)) return false;
  lines_.push_back(watched_line_);
  watched_ = nullptr;
  return true;
}

bool Child::listen(Clock::time_point when) {
  using namespace std::chrono_literals;
  if (look()) return true;
  const auto left = std::max(Clock::duration(0), when - Clock::now());
  const auto most = watched_ ? std::min<Clock::duration>(left, 200us) : left;
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(most).count();
  const timespec timeout{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
  pollfd waiting{.fd = from_child_, .events = POLLIN, .revents = 0};
  if (::ppoll(&waiting, 1, &timeout, nullptr) <= 0) return true;
  char bytes[4096];
  const ssize_t n = ::read(from_child_, bytes, sizeof bytes);
  if (n <= 0) return false;
  partial_.append(bytes, static_cast<std::size_t>(n));
  for (std::size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n')) {
    lines_.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
  return true;
}

bool Child::wait_for(std::string_view word, unsigned times, Clock::time_point when) {
  while (told(word) < times) {
    if (Clock::now() >= when || !listen(when)) return told(word) >= times;
  }
  return true;
}

void Child::wait_until(Clock::time_point when) {
  while (Clock::now() < when && listen(when)) continue;
}

void Child::kill() const {
  if (!waited_) ::kill(pid_, SIGKILL);
}

bool Child::was_killed() {
  // The pipe ends with the program, and nothing that it told before is lost.
  while (listen(Clock::now() + std::chrono::seconds(max_seconds))) continue;
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) throw std::runtime_error("waitpid failed");
  waited_ = true;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == good_status_) return false;
  std::ifstream in(output_, std::ios::binary);
  throw std::runtime_error((WIFSIGNALED(status) ? "the program died by signal " + std::to_string(WTERMSIG(status))
                                                : "the program exited with " + std::to_string(WEXITSTATUS(status))) +
                           " and printed:\n" + std::string(std::istreambuf_iterator<char>(in), {}));
}

unsigned Child::told(std::string_view word) const {
  return static_cast<unsigned>(
      std::ranges::count_if(lines_, [&](const std::string& line) { return line.starts_with(word); }));
}

void tell(const std::string& line) {
  static const int to_test = std::atoi(variable(tell_variable).c_str());
  const std::string text = line + "\n";
  if (to_test == 0 || ::write(to_test, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("nobody listens");
}

std::vector<std::string> this_program(const std::string& test_case) { return {"/proc/self/exe", test_case}; }

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace penstock_test
