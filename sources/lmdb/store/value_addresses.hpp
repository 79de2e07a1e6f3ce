#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace penstock::lmdb {

/// Where the values of records lie in the map, in one snapshot of the store, as far as they were looked up: each record
/// is searched for once, not once an epoch. 16 bytes a record, which the system provides as they are written. Any
/// thread.
class ValueAddresses {
 public:
  /// Addresses in the snapshot with this number (`mdb_txn_id`). Without memory for them, none is ever known.
  ValueAddresses(std::uint64_t records, std::size_t snapshot) noexcept
      : addresses_(static_cast<Address*>(std::calloc(records, sizeof(Address)))), snapshot_(snapshot) {}

  /// False in any other snapshot, where values may have moved.
  bool hold_in(std::size_t snapshot) const noexcept { return addresses_ != nullptr && snapshot == snapshot_; }
  /// The value of a record, or false where it is not known yet. Valid in transactions of the same snapshot.
  bool find(std::uint64_t index, MDB_val& value) const noexcept {
    Address& address = addresses_.get()[index];
    value.mv_data = std::atomic_ref(address.data).load(std::memory_order_acquire);
    value.mv_size = std::atomic_ref(address.bytes).load(std::memory_order_relaxed);
    return value.mv_data != nullptr;
  }
  /// A value that lies within the file.
  void learn(std::uint64_t index, const MDB_val& value) noexcept {
    Address& address = addresses_.get()[index];
    // Whoever learns it too learns the same.
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
  // Memory is calloc's, whose pages cost nothing until they are written to.
  std::unique_ptr<Address, Free> addresses_;
  std::size_t snapshot_;
};

}  // namespace penstock::lmdb
