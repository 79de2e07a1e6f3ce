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
class Places {
 public:
  /// Of the snapshot with this number (`mdb_txn_id`). Without memory for them, none is ever known.
  Places(std::uint64_t records, std::size_t snapshot) noexcept
      : places_(static_cast<Place*>(std::calloc(records, sizeof(Place)))), snapshot_(snapshot) {}

  /// False in any other snapshot, where values may have moved.
  bool hold_in(std::size_t snapshot) const noexcept { return places_ != nullptr && snapshot == snapshot_; }
  /// The value of a record, or false where it is not known yet. Valid in transactions of the same snapshot.
  bool find(std::uint64_t index, MDB_val& value) const noexcept {
    Place& place = places_.get()[index];
    value.mv_data = std::atomic_ref(place.data).load(std::memory_order_acquire);
    value.mv_size = std::atomic_ref(place.bytes).load(std::memory_order_relaxed);
    return value.mv_data != nullptr;
  }
  /// A value that lies within the file.
  void learn(std::uint64_t index, const MDB_val& value) noexcept {
    Place& place = places_.get()[index];
    // Whoever learns it too learns the same.
    std::atomic_ref(place.bytes).store(value.mv_size, std::memory_order_relaxed);
    std::atomic_ref(place.data).store(value.mv_data, std::memory_order_release);
  }
  void prefetch(std::uint64_t index) const noexcept {
    if (places_ != nullptr) __builtin_prefetch(places_.get() + index);
  }

 private:
  struct Place {
    void* data;
    std::size_t bytes;
  };
  struct Free {
    void operator()(Place* places) const noexcept { std::free(places); }
  };
  // From calloc, whose pages cost nothing until they are written to.
  std::unique_ptr<Place, Free> places_;
  std::size_t snapshot_;
};

}  // namespace penstock::lmdb
