// SPDX-License-Identifier: Apache-2.0
#include "tool.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <penstock/sources/lmdb.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "support/paths.hpp"
#include "support/text_in.hpp"

namespace penstock_test {

RunningTool::RunningTool(const std::vector<std::string>& arguments, const std::string& program) {
  const std::string out = output_ / "out", err = output_ / "err";
  std::vector<std::string> words{path_of(program)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // No fork(), which copies the tables of this process's pages each time.
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const auto& [file, to] : {std::pair(&out, STDOUT_FILENO), std::pair(&err, STDERR_FILENO)})
    ::posix_spawn_file_actions_addopen(&actions, to, file->c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error = ::posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(words[0] + " can't be started: " + std::strerror(error));
}

RunningTool::~RunningTool() {
  if (waited_) return;
  send(SIGKILL);
  ::waitpid(pid_, &status_, 0);
}

void RunningTool::send(int signal) const {
  if (!waited_) ::kill(pid_, signal);
}

bool RunningTool::wait_for_it(int options) {
  if (waited_) return true;
  rusage used{};
  waited_ = ::wait4(pid_, &status_, options, &used) == pid_;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  if (waited_) {
    cpu_s_ = seconds(used.ru_utime) + seconds(used.ru_stime);
    peak_bytes_ = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  }
  return waited_;
}

bool RunningTool::ended() { return wait_for_it(WNOHANG); }

ToolResult RunningTool::wait() {
  if (!wait_for_it(0)) throw std::runtime_error("wait4 failed");
  return {WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), text_in(output_ / "out"),
          text_in(output_ / "err"), cpu_s_, peak_bytes_};
}

ToolResult tool(const std::vector<std::string>& arguments) { return RunningTool(arguments).wait(); }

ToolResult make_slides(const std::vector<std::string>& arguments) {
  return RunningTool(arguments, "make_slides").wait();
}

std::string jpeg(unsigned number, int height, int width) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (unsigned c = 0; c < 3; ++c) {
        const auto smooth = static_cast<unsigned>(y * 3 + x * 2) + number * (37 + 29 * c);
        pixels.push_back(static_cast<std::uint8_t>(smooth + (static_cast<unsigned>(x * y) * 7 + number) % 23));
      }
  const auto bytes = penstock::encode_jpeg({pixels.data(), std::ptrdiff_t{width} * 3, {height, width, 3}});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_images(const TempFolder& folder, unsigned classes, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "images/class_%u/%04u.jpg", i % classes, i);
    folder.write(name, jpeg(i));
  }
}

std::map<std::string, std::string> content(const std::string& store) {
  const penstock::LmdbSource source(penstock::Lmdb{.path = store});
  std::map<std::string, std::string> all;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    penstock::OwnedSample record = penstock::read_sample(source, i);
    std::string& value = all[source.key(i)];
    for (std::size_t slot = 0; slot < record.schema().size(); ++slot) {
      const auto bytes = record.sample().bytes(slot);
      value.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  return all;
}

bool one_line(const std::string& text) {
  return text.size() > 1 && text.back() == '\n' && std::ranges::count(text, '\n') == 1;
}

}  // namespace penstock_test
