// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace penstock::remote {

/// Lends memory for ranges, within a limit of bytes. Keeps returned buffers, because the system clears fresh memory
/// before a program gets it. One thread at a time.
class BufferPool {
 public:
  using Buffer = std::unique_ptr<std::byte[]>;

  /// `each`: bytes of most buffers. Such buffers are kept for later, within `most` bytes.
  BufferPool(std::size_t each, std::size_t most) : each_(each), most_(most) {}

  /// Returns whether `bytes` are within the limit. A single buffer always is.
  bool has_room_for(std::size_t bytes) const noexcept { return held_ == 0 || held_ + bytes <= most_; }
  /// @throws std::bad_alloc.
  Buffer take(std::size_t bytes) {
    Buffer buffer;
    if (bytes == each_ && !spare_.empty()) {
      buffer = std::move(spare_.back());
      spare_.pop_back();
    } else {
      // Not initialised, as all bytes are overwritten.
      buffer = Buffer(new std::byte[bytes]);  // NOLINT(modernize-make-unique)
    }
    held_ += bytes;
    return buffer;
  }
  void give_back(Buffer buffer, std::size_t bytes) noexcept {
    held_ -= bytes;
    if (bytes != each_ || held_ + (spare_.size() + 1) * each_ > most_) return;
    try {
      spare_.push_back(std::move(buffer));
    } catch (...) {  // no memory to keep it
    }
  }

 private:
  const std::size_t each_, most_;
  std::size_t held_ = 0;
  std::vector<Buffer> spare_;
};

}  // namespace penstock::remote
