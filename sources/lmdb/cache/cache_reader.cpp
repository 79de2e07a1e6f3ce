// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_reader.hpp"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <utility>

#include <penstock/error.hpp>

#include "cache/cache_key.hpp"
#include "cache/cache_store.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/read_txn.hpp"
#include "store/values_ahead.hpp"

namespace penstock::lmdb {

namespace {

class Reader final : public penstock::CacheReader {
 public:
  explicit Reader(std::shared_ptr<CacheStore> store) : store_(std::move(store)), txn_(store_->environment()) {}

  bool has(std::uint64_t index) override {
    if (store_->has(index)) return true;
    if (!store_->others_write() || index >= store_->records()) return false;
    try {
      MDB_val value{};
      if (!find_anew(index, value)) return false;
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
      return false;
    }
    store_->learn(index);
    return true;
  }

  bool read(std::uint64_t index, SampleBuilder& out) override {
    try {
      MDB_val value{};
      if (!find(index, value) && !find_anew(index, value)) return false;
      std::array<char, cache_key_bytes> buffer{};
      store_->layout().decode(bytes_of(value), cache_key(index, buffer), store_->verifies(), out);
      return true;
    } catch (const Damage&) {
    } catch (const Error& error) {  // the tree is damaged, or the disk failed
      if (!error.sample_scoped()) throw;
    }
    store_->note_damage(index);
    return false;
  }

  void expect(std::span<const std::uint64_t> indices) noexcept override {
    ahead_.forget();
    indices = indices.first(std::min(indices.size(), ValuesAhead::most));
    try {
      for (const std::uint64_t index : indices) {
        MDB_val value{};
        if (!look_up(index, value)) break;
        ahead_.add(index, value);
      }
    } catch (...) {  // `read` will report the fault
    }
    ahead_.fetch_next();
  }

  void pause() noexcept override {
    ahead_.forget();
    txn_.pause();
  }

 private:
  // Finds a record. If `expect` has not found it already, and this process has committed since the present transaction
  // began, looks in a new transaction.
  bool find(std::uint64_t index, MDB_val& value) {
    if (ahead_.take(index, value)) return true;
    ahead_.forget();
    return look_up(index, value);
  }

  // Finds a record in a new transaction. If only this process writes, returns false without looking. A record that
  // another process has written since the present transaction began is visible only in a new transaction, even if
  // another reader of this process has already found the record.
  bool find_anew(std::uint64_t index, MDB_val& value) {
    if (!store_->others_write()) return false;
    txn_.pause();
    ahead_.forget();
    return look_up(index, value);
  }

  bool look_up(std::uint64_t index, MDB_val& value) {
    if (const std::uint64_t commits = store_->commits(); commits != commits_) {
      txn_.pause();
      ahead_.forget();
      commits_ = commits;
    }
    MDB_txn* const txn = txn_.get();
    if (addresses_ != nullptr && !addresses_->hold_in(txn_.snapshot())) addresses_ = nullptr;
    if (addresses_ == nullptr && ++unknown_ % looks_between_addresses == 0) {
      addresses_ = store_->addresses(txn_.snapshot());
      if (addresses_ != nullptr && !addresses_->hold_in(txn_.snapshot())) addresses_ = nullptr;  // without memory
    }
    if (addresses_ != nullptr && addresses_->find(index, value)) return true;
    std::array<char, cache_key_bytes> buffer{};
    MDB_val name = value_of(cache_key(index, buffer));
    const Environment& environment = *store_->environment();
    const int code = mdb_get(txn, environment.table(), &name, &value);
    if (code == MDB_NOTFOUND) return false;
    check(code, "reading the cache", environment.file());
    if (!environment.holds(value)) {
      store_->note_damage(index);
      return false;
    }
    if (addresses_ != nullptr) addresses_->learn(index, value);
    return true;
  }

  static constexpr std::uint64_t looks_between_addresses = 16;

  std::shared_ptr<CacheStore> store_;
  ReadTxn txn_;
  std::uint64_t commits_ = 0;
  std::uint64_t unknown_ = 0;
  std::shared_ptr<ValueAddresses> addresses_;
  ValuesAhead ahead_;
};

}  // namespace

std::unique_ptr<penstock::CacheReader> make_cache_reader(std::shared_ptr<CacheStore> store) {
  return std::make_unique<Reader>(std::move(store));
}

}  // namespace penstock::lmdb
