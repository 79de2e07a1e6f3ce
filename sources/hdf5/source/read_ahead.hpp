// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace penstock::hdf5 {

/// Has the system read blocks from the disk before they are loaded. Works on a thread of its own, which begins with the
/// first announcement: finding a block's chunks may read the file's index from the disk. If blocks are in the system's
/// memory already, asks for one in 16. Any thread.
class ReadAhead {
 public:
  /// `ask` asks the system for a block. It returns how many of the block's chunks were not in the system's memory, and
  /// may throw.
  explicit ReadAhead(std::function<std::uint64_t(std::uint64_t block)> ask) : ask_(std::move(ask)) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  void announce(std::span<const std::uint64_t> blocks) noexcept;
  /// Ends an announcement: the block is loaded, or not wanted.
  void forget(std::span<const std::uint64_t> blocks) noexcept;
  /// Chunks that the system was asked for.
  std::uint64_t asked() const noexcept { return asked_.load(std::memory_order_relaxed); }

 private:
  struct Work;
  void work(Work& of) noexcept;

  const std::function<std::uint64_t(std::uint64_t block)> ask_;
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<Work*> work_{nullptr};
};

}  // namespace penstock::hdf5
