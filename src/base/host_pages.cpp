#include "base/host_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace penstock::detail {

namespace {

constexpr std::size_t huge_bytes = std::size_t{2} << 20;
constexpr std::size_t mapping_bytes = 16 * huge_bytes;

constexpr std::size_t whole(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

std::size_t whole_pages(std::size_t bytes) noexcept {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return whole(bytes, page);
}

std::byte* map_pages(std::size_t bytes) noexcept {
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

// Begins on a huge page. Where the system has none, ordinary ones are as right.
std::byte* map_huge_pages(std::size_t bytes) noexcept {
  std::byte* const data = map_pages(bytes + huge_bytes);
  if (data == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = whole(address, huge_bytes) - address, after = huge_bytes - before;
  if (before != 0) ::munmap(data, before);
  if (after != 0) ::munmap(data + before + bytes, after);
  ::madvise(data + before, bytes, MADV_HUGEPAGE);
  return data + before;
}

}  // namespace

std::byte* HostPages::take(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX - 2 * huge_bytes) return nullptr;
  bytes = whole_pages(bytes);
  if (bytes >= huge_bytes) {
    std::byte* const data = map_huge_pages(bytes);
    return data != nullptr ? data : map_pages(bytes);
  }
  const std::lock_guard lock(mutex_);
  if (left_ < bytes) {
    std::byte* const mapping = map_huge_pages(mapping_bytes);
    if (mapping == nullptr) return map_pages(bytes);
    if (left_ != 0) ::munmap(next_, left_);
    next_ = mapping;
    left_ = mapping_bytes;
  }
  left_ -= bytes;
  return std::exchange(next_, next_ + bytes);
}

void HostPages::give_back(void* data, std::size_t bytes) noexcept { ::munmap(data, whole_pages(bytes)); }

}  // namespace penstock::detail
