#pragma once

#include <cstddef>
#include <mutex>

namespace penstock::detail {

/// Memory in whole pages, straight from the system, in huge pages where it gives them.
///
/// Pieces of a few hundred kilobytes, as decoded blocks are, follow each other in one mapping, so that a huge page
/// holds many of them. A piece is given back for itself, and its addresses are not used again.
///
/// Any thread.
class HostPages {
 public:
  /// What all memory of pages is aligned to, and more on some systems.
  static constexpr std::size_t alignment = 4096;

  /// Zeros; null: the system has no more.
  std::byte* take(std::size_t bytes) noexcept;
  /// What `take` gave, with the same number.
  static void give_back(void* data, std::size_t bytes) noexcept;

 private:
  std::mutex mutex_;
  std::byte* next_ = nullptr;  // of the mapping that pieces are taken from
  std::size_t left_ = 0;
};

}  // namespace penstock::detail
