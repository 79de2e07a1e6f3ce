// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock::detail {

/// Gives memory in whole pages, directly from the system. Uses huge pages if the system has them.
///
/// Pieces of a few hundred kilobytes, such as decoded blocks, share mappings, so a huge page holds many of them. If
/// such a piece is given back, later calls of `take` use its memory. A huge page goes back to the system as a whole,
/// when it has no pieces left. If only a part of it went back, the kernel would keep the whole page without counting it
/// as the process's memory. Each unmapped part would also add a mapping, and a process may have at most 65,530
/// mappings.
///
/// Any thread may use it. See `before_fork` for child processes.
class HostPages {
 public:
  /// All memory of `take` is aligned to at least this many bytes.
  static constexpr std::size_t alignment = 4096;

  HostPages();
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// Returns null if the system has no more memory.
  std::byte* take(std::size_t bytes) noexcept;
  /// Takes back what `take` returned. `bytes` must be the number given to `take`.
  void give_back(void* data, std::size_t bytes) noexcept;

  /// The thread that calls `fork` must call `before_fork` first, and `after_fork` afterwards in both processes. So the
  /// mutex is free in the child process.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

 private:
  class Mapping;

  std::size_t whole_pages(std::size_t bytes) const noexcept;
  Mapping* mapping_of(const std::byte* data) noexcept;
  Mapping* add_mapping() noexcept;

  const std::size_t page_bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Mapping>> mappings_;  // sorted by address
};

}  // namespace penstock::detail
