#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// All rows of a small dataset, read when they are first asked for.
class KeptRows {
 public:
  /// Null where they can't be read whole; then each is read by itself, so that only damaged ones fail.
  const std::byte* get(const Dataset& dataset, bool verify_checksum);

 private:
  std::mutex mutex_;
  std::vector<std::byte> rows_;
  std::atomic<const std::byte*> ready_{nullptr};
  std::atomic<bool> failed_{false};
};

}  // namespace penstock::hdf5
