// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock::detail {

/// Memory in whole pages, directly from the system, in huge pages if the system has them.
///
/// Pieces of a few hundred kilobytes, such as decoded blocks, share mappings, so a huge page holds many of them.
/// Returned pieces are reused for later ones. A huge page goes back to the system when no piece is left in it, and not
/// in parts. The kernel would keep the whole page, uncounted. Each hole would also add a mapping, and a process may
/// have 65,530 of them.
///
/// Any thread. Its mutex is free in a child process: see `before_fork`.
class HostPages {
 public:
  /// Alignment in bytes of all this memory; on some systems it is larger.
  static constexpr std::size_t alignment = 4096;

  HostPages();
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// Returns null if the system has no more memory.
  std::byte* take(std::size_t bytes) noexcept;
  /// Takes back what `take` returned. `bytes` must be the number given to `take`.
  void give_back(void* data, std::size_t bytes) noexcept;

  /// Call these around a `fork`, in the thread that calls it.
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

 private:
  class Mapping;

  std::size_t whole_pages(std::size_t bytes) const noexcept;
  Mapping* mapping_of(const std::byte* data) noexcept;
  Mapping* add_mapping() noexcept;

  const std::size_t page_bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Mapping>> mappings_;  // mappings by address
};

}  // namespace penstock::detail
