// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace penstock::lmdb {

/// Addresses of the values in the map, in one snapshot of the store, as far as they were looked up. So each record is
/// searched for once, not once per epoch. Takes 16 bytes per record, which the system provides when they are written.
/// Any thread.
class ValueAddresses {
 public:
  /// For the snapshot with this number (`mdb_txn_id`). If there is no memory, no address is ever known.
  ValueAddresses(std::uint64_t records, std::size_t snapshot) noexcept
      : addresses_(static_cast<Address*>(std::calloc(records, sizeof(Address)))), snapshot_(snapshot) {}

  /// Returns false in any other snapshot, whose values may have moved.
  bool hold_in(std::size_t snapshot) const noexcept { return addresses_ != nullptr && snapshot == snapshot_; }
  /// Returns false if the value of the record is unknown. The value is valid in transactions of the same snapshot.
  bool find(std::uint64_t index, MDB_val& value) const noexcept {
    Address& address = addresses_.get()[index];
    value.mv_data = std::atomic_ref(address.data).load(std::memory_order_acquire);
    value.mv_size = std::atomic_ref(address.bytes).load(std::memory_order_relaxed);
    return value.mv_data != nullptr;
  }
  /// Stores the address of a value that is within the file.
  void learn(std::uint64_t index, const MDB_val& value) noexcept {
    Address& address = addresses_.get()[index];
    // Another thread that learns it writes the same values.
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
  // Memory from calloc, whose pages cost nothing until they are written.
  std::unique_ptr<Address, Free> addresses_;
  std::size_t snapshot_;
};

}  // namespace penstock::lmdb
