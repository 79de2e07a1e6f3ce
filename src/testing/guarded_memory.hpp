// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace penstock::testing {

/// A block of exactly `bytes` bytes, filled with `content`, between guard bytes. The block is aligned to 64 bytes.
class GuardedMemory {
 public:
  GuardedMemory(std::size_t bytes, std::byte content);

  std::byte* data() const noexcept { return memory_.get() + guard; }
  std::size_t size() const noexcept { return bytes_; }
  std::span<std::byte> bytes() const noexcept { return {data(), bytes_}; }
  /// Returns whether the guard bytes before and after the block are unchanged.
  bool intact() const noexcept;

 private:
  static constexpr std::size_t guard = 64;
  struct Free {
    void operator()(std::byte* data) const noexcept { ::operator delete(data, std::align_val_t(guard)); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace penstock::testing
