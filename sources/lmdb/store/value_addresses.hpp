// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace penstock::lmdb {

/// Keeps, for one snapshot of the store, the addresses of the values that were looked up. So a record is searched for
/// only once, and not in each epoch. The addresses take 16 bytes per record. The system provides this memory when it is
/// written. Any thread.
class ValueAddresses {
 public:
  /// `snapshot`: the snapshot's number (`mdb_txn_id`). If there is no memory, no address is ever known.
  ValueAddresses(std::uint64_t records, std::size_t snapshot) noexcept
      : addresses_(static_cast<Address*>(std::calloc(records, sizeof(Address)))), snapshot_(snapshot) {}

  /// Returns whether the addresses are valid in a snapshot. In another snapshot values may have moved.
  bool hold_in(std::size_t snapshot) const noexcept { return addresses_ != nullptr && snapshot == snapshot_; }
  /// Sets `value` to a record's value, valid in transactions of the same snapshot. Returns false if the value's address
  /// is unknown. REQUIRES: `hold_in` returned true.
  bool find(std::uint64_t index, MDB_val& value) const noexcept {
    Address& address = addresses_.get()[index];
    value.mv_data = std::atomic_ref(address.data).load(std::memory_order_acquire);
    value.mv_size = std::atomic_ref(address.bytes).load(std::memory_order_relaxed);
    return value.mv_data != nullptr;
  }
  /// Stores the address of a value that is within the file. REQUIRES: `hold_in` returned true.
  void learn(std::uint64_t index, const MDB_val& value) noexcept {
    Address& address = addresses_.get()[index];
    // If two threads store the address of one record, both write the same address and size.
    std::atomic_ref(address.bytes).store(value.mv_size, std::memory_order_relaxed);
    std::atomic_ref(address.data).store(value.mv_data, std::memory_order_release);
  }
  void prefetch(std::uint64_t index) const noexcept {
    if (addresses_ != nullptr) __builtin_prefetch(addresses_.get() + index);
  }

 private:
  struct Address {
    void* data;
    std::size_t bytes;
  };
  struct Free {
    void operator()(Address* addresses) const noexcept { std::free(addresses); }
  };
  // Memory from calloc. Its pages take no memory until they are written.
  std::unique_ptr<Address, Free> addresses_;
  std::size_t snapshot_;
};

}  // namespace penstock::lmdb
