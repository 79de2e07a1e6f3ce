// SPDX-License-Identifier: Apache-2.0
// LMDB as someone without this library uses it: an environment, a read transaction a thread, mdb_get.
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

// The key of record i in the stores made here: 8 decimal digits, so that keys are in the order of numbers.
struct DecimalKey {
  explicit DecimalKey(std::uint64_t i) noexcept {
    for (std::size_t k = sizeof(digits); k-- > 0; i /= 10) digits[k] = static_cast<char>('0' + i % 10);
  }
  std::string_view text() const noexcept { return {digits, sizeof(digits)}; }
  char digits[8];
};

// An open store, for reading. Any thread.
class PlainStore {
 public:
  // Without a lock file: the library has the same store open in this process, and nobody writes.
  explicit PlainStore(const std::filesystem::path& folder, bool read_ahead = true);
  PlainStore(const PlainStore&) = delete;
  PlainStore& operator=(const PlainStore&) = delete;
  ~PlainStore();
  MDB_env* env() const noexcept { return env_; }

 private:
  MDB_env* env_ = nullptr;
};

// A read transaction. One thread at a time.
class PlainReader {
 public:
  explicit PlainReader(const PlainStore& store);
  PlainReader(PlainReader&& other) noexcept;
  PlainReader& operator=(PlainReader&&) = delete;
  ~PlainReader();
  // The value, in the map. @throws std::runtime_error when there is none.
  std::span<const std::byte> get(std::string_view key) const {
    MDB_val k{key.size(), const_cast<char*>(key.data())}, v{};
    if (const int code = ::mdb_get(txn_, dbi_, &k, &v); code != 0) fail(code, "mdb_get");
    return {static_cast<const std::byte*>(v.mv_data), v.mv_size};
  }
  std::span<const std::byte> get(std::uint64_t i) const { return get(DecimalKey(i).text()); }
  // Calls `each` with every key, in order.
  void keys(const std::function<void(std::string_view)>& each) const;

 private:
  [[noreturn]] static void fail(int code, const char* call);
  MDB_txn* txn_ = nullptr;
  MDB_dbi dbi_ = 0;
};

// Writes a store: keys in their order, 1,000 a transaction, nothing synced but the whole at its end.
class PlainWriter {
 public:
  PlainWriter(const std::filesystem::path& folder, std::size_t map_bytes);
  PlainWriter(const PlainWriter&) = delete;
  PlainWriter& operator=(const PlainWriter&) = delete;
  ~PlainWriter();
  // Room for a value, to be filled before the next call.
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
