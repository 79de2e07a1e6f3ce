#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace penstock::hdf5 {

/// Thrown where the other side is gone, or says nothing in time.
struct NoAnswer {
  bool too_late = false;
};

/// A program that runs beside this one, with a socket as its standard input and no other descriptor of ours. One thread
/// at a time.
class ReaderProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ReaderProcess() = default;
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;
  /// Ends it, at once; not where this is a child made by fork(), whose it is not.
  ~ReaderProcess();

  /// With one argument, the most bytes of memory it may take. @throws std::system_error.
  void start(const std::string& program, std::uint64_t memory_bytes);
  /// False also where it ended by itself since.
  bool running() const noexcept;
  bool started() const noexcept { return pid_ > 0; }

  /// @throws NoAnswer.
  void send(std::span<const std::byte> bytes, Time until);
  void receive(std::span<std::byte> bytes, Time until);

  /// Ends it where it has not ended by itself; nothing where it was not started. How it ended: "was ended by signal 11
  /// (Segmentation fault)".
  std::string finish() noexcept;

 private:
  void wait_for(short events, Time until) const;
  bool wait_for_end(std::chrono::milliseconds most, int& status) noexcept;

  pid_t pid_ = -1, owner_ = -1;
  int socket_ = -1;
};

}  // namespace penstock::hdf5
