#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// All rows of a small dataset, read when they are first asked for.
class KeptRows {
 public:
  struct Stretch {
    std::uint64_t first = 0, end = 0;
  };

  /// Where all rows begin, if those from `first` on are kept: null where they can't be read whole, but for those that
  /// are known to be lost. Then each is read by itself, so that only damaged ones fail.
  const std::byte* get(const Dataset& dataset, bool verify_checksum, std::uint64_t first, std::uint64_t count);

 private:
  bool has(std::uint64_t first, std::uint64_t count) const noexcept;

  std::mutex mutex_;
  std::vector<std::byte> rows_;
  std::vector<Stretch> missing_;  ///< in their order
  std::atomic<const std::byte*> ready_{nullptr};
  std::atomic<bool> failed_{false};
};

}  // namespace penstock::hdf5
