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

/// Keeps all rows of a small dataset in memory. The first request reads them. Threads that ask for rows before all are
/// read help to read them.
class RowsInMemory {
 public:
  struct Stretch {
    std::uint64_t first = 0, end = 0;
  };

  /// Returns the address of row 0, if the `count` rows from `first` on are kept. Otherwise returns null. Rows that are
  /// lost or can't be read are not kept. If no rows are listed as lost (`OtherFiles::lost`) and some can't be read, no
  /// row is kept. After null, the caller reads each row by itself, so that only bad rows fail. A thread that calls this
  /// while rows are being read reads some parts, and then waits for the parts that other threads are reading.
  const std::byte* get(const Dataset& dataset, bool verify_checksum, std::uint64_t first, std::uint64_t count);

 private:
  bool has(std::uint64_t first, std::uint64_t count) const noexcept;
  void begin(const Dataset& dataset);
  void read_parts(std::unique_lock<std::mutex>& lock, const Dataset& dataset, bool verify_checksum);

  std::mutex mutex_;
  std::condition_variable read_;
  std::unique_ptr<std::byte[]> rows_;
  std::vector<Stretch> parts_;          ///< each stretch of rows is read by one thread
  std::size_t next_ = 0, in_work_ = 0;  ///< index of the next part to read; number of parts that are being read
  bool lossy_ = false;                  ///< the dataset has lost rows, so if a part can't be read, other parts are kept
  bool lost_too_ = false;               ///< all rows are one part, which includes lost rows
  std::vector<Stretch> missing_;        ///< rows that are not kept, in order
  std::atomic<const std::byte*> ready_{nullptr};
  std::atomic<bool> failed_{false};
};

}  // namespace penstock::hdf5
