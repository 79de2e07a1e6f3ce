// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/heap_trim_guard.hpp"
#include "store/environment.hpp"
#include "store/files.hpp"

namespace penstock::lmdb {

/// A store that is being written. It has one write transaction at a time, and a memory map that grows. All calls
/// between a transaction's first call and its commit must be on one thread.
class WriteStore {
 public:
  WriteStore(const StoreFiles& files, std::size_t map_bytes, bool sync, std::unique_ptr<WritersLock> lock);
  WriteStore(const WriteStore&) = delete;
  WriteStore& operator=(const WriteStore&) = delete;
  /// Data that are not committed are lost.
  ~WriteStore();

  const std::string& file() const noexcept { return environment_->file(); }
  /// Returns the number of records, including the manifest, as the transaction sees them.
  std::uint64_t entries();
  bool has(std::string_view key);
  std::optional<std::string> get(std::string_view key);
  /// Returns a key's value in place, valid until the next call. Returns nothing if the store lacks the key.
  std::optional<std::span<const std::byte>> view(std::string_view key);
  /// Removes an existing key. May commit earlier puts.
  void erase(std::string_view key);
  /// Returns the keys for which `wanted` returns true, in order.
  std::vector<std::string> keys_where(const std::function<bool(std::string_view)>& wanted);
  /// Returns the greatest key, by bytes, that the store has had since it was opened. Returns an empty text if the store
  /// has had no key.
  const std::string& last_key() const noexcept { return last_key_; }

  /// Returns `bytes` bytes of memory for a new key's value. The caller must fill them before the next call. May commit
  /// earlier puts. @throws Error(invalid_argument) if the key exists, is empty or is too long; Error(limit_exceeded) if
  /// `bytes` is 4 GiB or more; Error(closed) after a failed write; Error(forked | io).
  std::span<std::byte> reserve(std::string_view key, std::size_t bytes);
  /// Puts a new key with a value. Like `reserve`, followed by a copy of `value`.
  void put(std::string_view key, std::span<const std::byte> value);
  /// Puts a value, whether or not the key exists. Then commits the value, together with all earlier puts.
  void replace(std::string_view key, std::string_view value);
  void commit();
  /// Syncs everything committed so far to the disk.
  void sync();
  /// Syncs everything committed so far to the disk. From this call on, every commit is synced.
  void sync_from_now_on();

 private:
  MDB_txn* begin();
  void find_last_key();
  void make_room(std::size_t bytes, std::uint64_t freed = 0);
  void grow(std::uint64_t pages);
  void* place(std::string_view key, std::size_t bytes, void* from);
  void abort() noexcept;
  int descriptor() const;
  [[noreturn]] void fail(int code, std::string_view doing, std::size_t bytes, std::string_view key = {});
  std::uint64_t pages_for(std::size_t bytes) const noexcept;

  std::shared_ptr<Environment> environment_;
  MDB_txn* txn_ = nullptr;
  std::string last_key_;
  std::size_t page_bytes_ = 4096;
  std::uint64_t free_pages_ = 0;   ///< at least this many pages are left in the map
  std::uint64_t dirty_pages_ = 0;  ///< the transaction has changed at most this many pages; a value counts as one
  std::size_t uncommitted_bytes_ = 0;
  common::HeapTrimGuard heap_end_;  ///< keeps the heap from shrinking when a transaction's pages are freed
  bool failed_ = false;
  bool syncs_;  ///< whether every commit is synced
};

}  // namespace penstock::lmdb
