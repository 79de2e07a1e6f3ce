#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace penstock::detail {

/// Memory in whole pages, straight from the system, in huge pages where it gives them.
///
/// Pieces of a few hundred kilobytes, as decoded blocks are, share mappings, so that a huge page holds many of them.
/// What is given back serves later pieces. A huge page goes back to the system when no piece is in it any more, and not
/// in parts: the kernel would keep it whole, uncounted, and each hole is a mapping more, of which a process may have
/// 65,530.
///
/// Any thread. Its mutex is free in a child process: see `before_fork`.
class HostPages {
 public:
  /// What all memory of pages is aligned to, and more on some systems.
  static constexpr std::size_t alignment = 4096;

  HostPages();
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// Null: the system has no more.
  std::byte* take(std::size_t bytes) noexcept;
  /// What `take` gave, with the same number.
  void give_back(void* data, std::size_t bytes) noexcept;

  /// Around a `fork`, in the thread that calls it.
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
