// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace penstock::hdf5 {

/// Thrown if the other process has ended, or doesn't answer in time.
struct NoAnswer {
  bool too_late = false;
};

/// A child process with a socket as its standard input and none of our other descriptors. One thread at a time.
class ReaderProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ReaderProcess() = default;
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  /// Ends the process immediately. In a child made by fork() it does nothing, because the process is not the child's.
  ~ReaderProcess();

  /// Starts it with one argument, the most bytes of memory it may use. @throws std::system_error.
  void start(const std::string& program, std::uint64_t memory_bytes);
  /// Returns false also if it ended by itself.
  bool running() const noexcept;
  bool started() const noexcept { return pid_ > 0; }

  /// @throws NoAnswer.
  void send(std::span<const std::byte> bytes, Time until);
  void receive(std::span<std::byte> bytes, Time until);

  /// Ends it unless it has ended by itself; does nothing if it was not started. Returns how it ended: "was ended by
  /// signal 11 (Segmentation fault)".
  std::string finish() noexcept;

 private:
  void wait_for(short events, Time until) const;
  bool wait_for_end(std::chrono::milliseconds most, int& status) noexcept;

  pid_t pid_ = -1, owner_ = -1;
  int socket_ = -1;
};

}  // namespace penstock::hdf5
