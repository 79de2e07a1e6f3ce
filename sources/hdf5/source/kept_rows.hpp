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

/// All rows of a small dataset, read when they are first asked for, by all threads that ask.
class KeptRows {
 public:
  struct Stretch {
    std::uint64_t first = 0, end = 0;
  };

  /// Where all rows begin, if those from `first` on are kept: null where they can't be read whole, but for those that
  /// are known to be lost. Then each is read by itself, so that only damaged ones fail. A thread that asks while they
  /// are read reads a part of them, and waits for the others' last parts.
  const std::byte* get(const Dataset& dataset, bool verify_checksum, std::uint64_t first, std::uint64_t count);

 private:
  bool has(std::uint64_t first, std::uint64_t count) const noexcept;
  void begin(const Dataset& dataset);
  void read_parts(std::unique_lock<std::mutex>& lock, const Dataset& dataset, bool verify_checksum);

  std::mutex mutex_;
  std::condition_variable read_;
  std::unique_ptr<std::byte[]> rows_;
  std::vector<Stretch> parts_;          ///< what is read at a time
  std::size_t next_ = 0, in_work_ = 0;  ///< parts
  bool lossy_ = false;                  ///< a part that can't be read is missing, and the others are kept
  bool lost_too_ = false;               ///< the one part has rows that are missing
  std::vector<Stretch> missing_;        ///< in their order
  std::atomic<const std::byte*> ready_{nullptr};
  std::atomic<bool> failed_{false};
};

}  // namespace penstock::hdf5
