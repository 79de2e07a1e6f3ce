// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/child.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <penstock/error.hpp>

// Sizes that the library believes are refused, with AddressSanitizer and without.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=1024:allocator_may_return_null=1"; }

namespace penstock_test {

namespace {

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

constexpr int threw_error = 10, threw_other = 11, died_in_library = 20, died_in_us = 21;

enum class Frame : unsigned char { neither, library, us };

Frame frame_of(std::string_view object) {
  for (const char* part : {"libhdf5", "libsz", "libaec", "libz."})
    if (object.find(part) != std::string_view::npos) return Frame::library;
  for (const char* part : {"libc.so", "libsanitizer", "libasan", "libubsan", "libgcc_s", "libpthread", "linux-vdso"})
    if (object.find(part) != std::string_view::npos) return Frame::neither;
  return Frame::us;
}

extern "C" void on_signal(int signal) {
  std::array<void*, 64> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  // After this function and what the kernel calls it through.
  for (int i = 2; i < count; ++i) {
    Dl_info info{};
    if (::dladdr(frames[static_cast<std::size_t>(i)], &info) == 0 || info.dli_fname == nullptr) continue;
    const Frame frame = frame_of(info.dli_fname);
    if (frame == Frame::neither) continue;
    ::_exit(frame == Frame::library ? died_in_library : died_in_us);
  }
  ::_exit(signal == SIGABRT ? died_in_library : died_in_us);
}

[[noreturn]] void run(const std::function<void()>& act, int output, unsigned seconds) {
  ::dup2(output, STDERR_FILENO);
  std::array<void*, 4> frames{};
  static_cast<void>(::backtrace(frames.data(), 4));  // loads what the handler needs
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(signal, on_signal);
  limit_memory();
  ::alarm(seconds);
  int status = 0;
  try {
    act();
  } catch (const penstock::Error& error) {
    status = threw_error;
    std::fputs(error.what(), stderr);
  } catch (const std::exception& error) {
    status = threw_other;
    std::fputs(error.what(), stderr);
  } catch (...) {
    status = threw_other;
  }
  std::fflush(stderr);
  ::_exit(status);
}

bool blames_the_library(const std::string& text) {
  const std::size_t report = text.find("ERROR: AddressSanitizer");
  if (report == std::string::npos) return false;
  std::istringstream lines(text.substr(report));
  bool in_stack = false;
  for (std::string line; std::getline(lines, line);) {
    const bool frame = line.find("    #") == 0;
    if (in_stack && !frame) return true;  // only the C library's and the sanitizer's
    in_stack = frame;
    if (frame && frame_of(line) != Frame::neither) return frame_of(line) == Frame::library;
  }
  return false;
}

}  // namespace

ChildEnd in_damaged_child(const std::function<void()>& act, unsigned seconds) {
  std::FILE* const output = std::tmpfile();
  if (output == nullptr) throw std::runtime_error("tmpfile");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) run(act, ::fileno(output), seconds);
  int status = 0;
  ::waitpid(child, &status, 0);
  ChildEnd end;
  std::rewind(output);
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) end.text += static_cast<char>(c);
  std::fclose(output);
  using How = ChildEnd::How;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const bool heap_checks = end.text.find("malloc") != std::string::npos || end.text.find("free") != std::string::npos ||
                           end.text.find("corrupt") != std::string::npos;
  if (code == 0)
    end.how = How::returned;
  else if (code == threw_error)
    end.how = How::error;
  else if (code == threw_other)
    end.how = How::other_error;
  else if (code == died_in_library || blames_the_library(end.text))
    end.how = How::killed_library;
  else if (code == died_in_us && end.text.find("terminate called") == std::string::npos && heap_checks &&
           end.text.find("runtime error") == std::string::npos && end.text.find("(abort") != std::string::npos)
    end.how = How::killed_library;
  else
    end.how = How::killed_us;
  return end;
}

}  // namespace penstock_test
