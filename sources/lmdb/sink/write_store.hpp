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

#include "common/heap_end.hpp"
#include "store/environment.hpp"
#include "store/files.hpp"

namespace penstock::lmdb {

/// A store being written: one write transaction at a time, and a memory map that grows. From a transaction's first call
/// to its commit, one thread only.
class WriteStore {
 public:
  WriteStore(const StoreFiles& files, std::size_t map_bytes, bool sync, std::unique_ptr<WritersLock> lock);
  WriteStore(const WriteStore&) = delete;
  WriteStore& operator=(const WriteStore&) = delete;
  /// Data that were not committed are lost.
  ~WriteStore();

  const std::string& file() const noexcept { return environment_->file(); }
  /// Returns the number of records, including the manifest, as the transaction sees them.
  std::uint64_t entries();
  bool has(std::string_view key);
  std::optional<std::string> get(std::string_view key);
  /// Returns a key's value in place, valid until the next call.
  std::optional<std::span<const std::byte>> view(std::string_view key);
  /// Removes an existing key. May commit what was put before.
  void erase(std::string_view key);
  /// Returns the keys for which `wanted` is true, in order.
  std::vector<std::string> keys_where(const std::function<bool(std::string_view)>& wanted);
  /// Returns the greatest key by bytes; empty in an empty store.
  const std::string& last_key() const noexcept { return last_key_; }

  /// Returns room of `bytes` bytes for a new key's value, to be filled before the next call. May commit what was put
  /// before. @throws Error(invalid_argument) if the key exists or is too long, Error(limit_exceeded), Error(io).
  std::span<std::byte> reserve(std::string_view key, std::size_t bytes);
  /// Puts a new key's value, like `reserve` and a copy.
  void put(std::string_view key, std::span<const std::byte> value);
  /// Puts a value in its own transaction, whether or not the key exists.
  void replace(std::string_view key, std::string_view value);
  void commit();
  /// Syncs everything committed so far to the disk.
  void sync();
  /// Syncs everything committed so far to the disk, and syncs every later commit.
  void sync_from_now_on();

 private:
  MDB_txn* begin();
  void find_last_key();
  void make_room(std::size_t bytes);
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
  std::uint64_t free_pages_ = 0;   ///< pages that are left in the map, at least
  std::uint64_t dirty_pages_ = 0;  ///< pages that this transaction has changed, at most
  std::size_t uncommitted_bytes_ = 0;
  common::HeapEnd heap_end_;  ///< keeps the heap's end after the pages of the largest transaction so far
  bool failed_ = false;
  bool syncs_;  ///< sync every commit
};

}  // namespace penstock::lmdb
