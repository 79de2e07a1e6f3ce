// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace penstock::hdf5 {

/// Thrown if the child process has ended, or doesn't answer in time.
struct NoAnswer {
  bool too_late = false;
};

/// A child process. Its standard input is a socket to this process. Its standard output and error are /dev/null. It
/// inherits other descriptors of this process only if they do not close on exec. One thread at a time.
class ReaderProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ReaderProcess() = default;
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  /// Ends the process like `finish`. In a child made by fork(), only closes the socket, because the process belongs to
  /// the parent.
  ~ReaderProcess();

  /// Starts `program` with one argument, the most bytes of memory that it may use. @throws std::system_error.
  void start(const std::string& program, std::uint64_t memory_bytes);
  /// Returns false if the process was not started, has ended, or has sent something without being asked.
  bool running() const noexcept;
  bool started() const noexcept { return pid_ > 0; }

  /// Both functions transfer all bytes. @throws NoAnswer if the process has ended, or if it is later than `until`.
  void send(std::span<const std::byte> bytes, Time until);
  void receive(std::span<std::byte> bytes, Time until);

  /// Ends the process unless it has ended by itself. Does nothing if it was not started. Returns how the process ended:
  /// "was ended by signal 11 (Segmentation fault)".
  std::string finish() noexcept;

 private:
  void wait_for(short events, Time until) const;
  bool wait_for_end(std::chrono::milliseconds most, int& status) noexcept;

  pid_t pid_ = -1, owner_ = -1;
  int socket_ = -1;
};

}  // namespace penstock::hdf5
