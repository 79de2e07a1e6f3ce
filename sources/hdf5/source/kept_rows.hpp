// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// Keeps all rows of a small dataset in memory. They are read at the first request, by all threads that ask.
class KeptRows {
 public:
  struct Stretch {
    std::uint64_t first = 0, end = 0;
  };

  /// Returns the beginning of all rows, if the rows from `first` on are kept. Returns null if they can't all be read;
  /// rows that are known to be lost may be missing. Then each row is read by itself, so that only damaged ones fail. A
  /// thread that asks while they are read reads a part of them, and then waits for the last parts of the other threads.
  const std::byte* get(const Dataset& dataset, bool verify_checksum, std::uint64_t first, std::uint64_t count);

 private:
  bool has(std::uint64_t first, std::uint64_t count) const noexcept;
  void begin(const Dataset& dataset);
  void read_parts(std::unique_lock<std::mutex>& lock, const Dataset& dataset, bool verify_checksum);

  std::mutex mutex_;
  std::condition_variable read_;
  std::unique_ptr<std::byte[]> rows_;
  std::vector<Stretch> parts_;          ///< rows that are read together
  std::size_t next_ = 0, in_work_ = 0;  ///< indices of parts
  bool lossy_ = false;                  ///< an unreadable part is missing, and the others are kept
  bool lost_too_ = false;               ///< the only part has missing rows
  std::vector<Stretch> missing_;        ///< in order
  std::atomic<const std::byte*> ready_{nullptr};
  std::atomic<bool> failed_{false};
};

}  // namespace penstock::hdf5
