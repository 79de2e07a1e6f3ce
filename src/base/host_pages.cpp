// SPDX-License-Identifier: Apache-2.0
#include "base/host_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::detail {

namespace {

constexpr std::size_t huge_bytes = std::size_t{2} << 20;
constexpr std::size_t mapping_bytes = 16 * huge_bytes;

constexpr std::size_t whole(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

std::byte* map_pages(std::size_t bytes) noexcept {
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

// Returns memory that begins at a multiple of `huge_bytes`. If the system has no huge pages, the memory has
// ordinary pages. Returns null if the system has no more memory.
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

/// Memory of `mapping_bytes` that several pieces share. Knows which parts of it are free.
class HostPages::Mapping {
 public:
  static constexpr std::size_t least_piece = std::size_t{128} << 10;

  // Reserves room for the largest possible number of free parts, because `give_back` must not fail. @throws
  // std::bad_alloc.
  Mapping() { free_.reserve(mapping_bytes / least_piece + 1); }
  ~Mapping() {
    if (data != nullptr) ::munmap(data, mapping_bytes);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void begin(std::byte* pages) {
    data = pages;
    free_.push_back({0, mapping_bytes});
    most_ = mapping_bytes;
  }
  bool has(const std::byte* piece) const noexcept { return piece >= data && piece < data + mapping_bytes; }
  bool empty() const noexcept { return most_ == mapping_bytes; }
  bool has_room_for(std::size_t bytes) const noexcept { return bytes <= most_; }

  std::byte* take(std::size_t bytes) noexcept {
    const auto fits = std::ranges::find_if(free_, [&](const Part& part) { return part.bytes >= bytes; });
    std::byte* const piece = data + fits->begin;
    fits->begin += bytes;
    fits->bytes -= bytes;
    if (fits->bytes == 0) free_.erase(fits);
    find_most();
    return piece;
  }
  void give_back(const std::byte* piece, std::size_t bytes) noexcept {
    Part part{static_cast<std::size_t>(piece - data), bytes};
    auto next = std::ranges::upper_bound(free_, part.begin, {}, &Part::begin);
    const auto end_of = [](const Part& it) { return it.begin + it.bytes; };
    if (next != free_.end() && next->begin == end_of(part)) {
      part.bytes += next->bytes;
      next = free_.erase(next);
    }
    if (next != free_.begin() && end_of(*std::prev(next)) == part.begin) {
      --next;
      part = {next->begin, next->bytes + part.bytes};
      *next = part;
    } else {
      free_.insert(next, part);
    }
    find_most();
    // Returns to the system the huge pages in which this was the last piece.
    const auto first = static_cast<std::size_t>(piece - data) / huge_bytes * huge_bytes;
    const std::size_t last = whole(static_cast<std::size_t>(piece - data) + bytes, huge_bytes);
    const std::size_t begin = std::max(first, whole(part.begin, huge_bytes));
    const std::size_t end = std::min(last, end_of(part) / huge_bytes * huge_bytes);
    if (begin < end) ::madvise(data + begin, end - begin, MADV_DONTNEED);
  }

  std::byte* data = nullptr;

 private:
  struct Part {
    std::size_t begin, bytes;
  };

  void find_most() noexcept {
    most_ = 0;
    for (const Part& part : free_) most_ = std::max(most_, part.bytes);
  }

  std::vector<Part> free_;  // sorted by `begin`; adjacent parts are merged
  std::size_t most_ = 0;    // bytes of the largest free part
};

HostPages::HostPages() : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {}
HostPages::~HostPages() = default;

std::size_t HostPages::whole_pages(std::size_t bytes) const noexcept { return whole(bytes, page_bytes_); }

HostPages::Mapping* HostPages::mapping_of(const std::byte* data) noexcept {
  const auto after = std::ranges::upper_bound(mappings_, data, {}, [](const auto& it) { return it->data; });
  if (after == mappings_.begin() || !(*std::prev(after))->has(data)) return nullptr;
  return std::prev(after)->get();
}

// Makes another mapping. Returns null if the system has no more memory.
HostPages::Mapping* HostPages::add_mapping() noexcept {
  try {
    auto added = std::make_unique<Mapping>();
    std::byte* const pages = map_huge_pages(mapping_bytes);
    if (pages == nullptr) return nullptr;
    added->begin(pages);
    Mapping* const it = added.get();
    const auto after = std::ranges::upper_bound(mappings_, pages, {}, [](const auto& m) { return m->data; });
    mappings_.insert(after, std::move(added));
    return it;
  } catch (...) {
    return nullptr;
  }
}

std::byte* HostPages::take(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX - 2 * huge_bytes) return nullptr;
  bytes = whole_pages(bytes);
  if (bytes >= huge_bytes) {
    std::byte* const data = map_huge_pages(bytes);
    return data != nullptr ? data : map_pages(bytes);
  }
  if (bytes < Mapping::least_piece) return map_pages(bytes);
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(mappings_, [&](const auto& it) { return it->has_room_for(bytes); });
  Mapping* const mapping = found != mappings_.end() ? found->get() : add_mapping();
  return mapping != nullptr ? mapping->take(bytes) : map_pages(bytes);
}

void HostPages::give_back(void* data, std::size_t bytes) noexcept {
  bytes = whole_pages(bytes);
  auto* const piece = static_cast<std::byte*>(data);
  if (bytes < huge_bytes) {
    const std::lock_guard lock(mutex_);
    if (Mapping* const mapping = mapping_of(piece); mapping != nullptr) {
      mapping->give_back(piece, bytes);
      if (mapping->empty()) std::erase_if(mappings_, [&](const auto& it) { return it.get() == mapping; });
      return;
    }
  }
  ::munmap(data, bytes);
}

}  // namespace penstock::detail
