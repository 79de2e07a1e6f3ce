// SPDX-License-Identifier: Apache-2.0
// LMDB without this library: one environment, one read transaction per thread, and mdb_get.
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::bench {

// The key of record i in the stores that are made here. It has 8 decimal digits, so that keys are in the order of their
// numbers.
struct DecimalKey {
  explicit DecimalKey(std::uint64_t i) noexcept {
    for (std::size_t k = sizeof(digits); k-- > 0; i /= 10) digits[k] = static_cast<char>('0' + i % 10);
  }
  std::string_view text() const noexcept { return {digits, sizeof(digits)}; }
  char digits[8];
};

// A store that is open for reading. Any thread may use it.
class PlainStore {
 public:
  // Opens the store without a lock file, because the library has the same store open in this process. No process writes
  // to it.
  explicit PlainStore(const std::filesystem::path& folder, bool read_ahead = true);
  PlainStore(const PlainStore&) = delete;
  PlainStore& operator=(const PlainStore&) = delete;
  ~PlainStore();
  MDB_env* env() const noexcept { return env_; }

 private:
  MDB_env* env_ = nullptr;
};

// A read transaction. One thread at a time may use it.
class PlainReader {
 public:
  explicit PlainReader(const PlainStore& store);
  PlainReader(PlainReader&& other) noexcept;
  PlainReader& operator=(PlainReader&&) = delete;
  ~PlainReader();
  // Returns the value in the map. @throws std::runtime_error if there is no such key.
  std::span<const std::byte> get(std::string_view key) const {
    MDB_val k{key.size(), const_cast<char*>(key.data())}, v{};
    if (const int code = ::mdb_get(txn_, dbi_, &k, &v); code != 0) fail(code, "mdb_get");
    return {static_cast<const std::byte*>(v.mv_data), v.mv_size};
  }
  std::span<const std::byte> get(std::uint64_t i) const { return get(DecimalKey(i).text()); }
  // Calls `each` with each key, in order.
  void keys(const std::function<void(std::string_view)>& each) const;

 private:
  [[noreturn]] static void fail(int code, const char* call);
  MDB_txn* txn_ = nullptr;
  MDB_dbi dbi_ = 0;
};

// Writes a store. Keys must come in order. A transaction has 1,000 keys. Only `finish` syncs the store.
class PlainWriter {
 public:
  PlainWriter(const std::filesystem::path& folder, std::size_t map_bytes);
  PlainWriter(const PlainWriter&) = delete;
  PlainWriter& operator=(const PlainWriter&) = delete;
  ~PlainWriter();
  // Returns room for a value, which must be filled before the next call.
  std::span<std::byte> reserve(std::string_view key, std::size_t bytes);
  void put(std::string_view key, std::span<const std::byte> value);
  void finish();

 private:
  void begin();
  void commit();
  MDB_env* env_ = nullptr;
  MDB_txn* txn_ = nullptr;
  MDB_dbi dbi_ = 0;
  unsigned pending_ = 0;
};

}  // namespace penstock::bench
