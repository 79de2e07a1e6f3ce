// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "store/bytes.hpp"
#include "store/environment.hpp"
#include "store/key_index.hpp"
#include "store/read_txn.hpp"
#include "store/value_addresses.hpp"

namespace penstock::lmdb {

/// Finds the values of records by their numbers, in a read transaction of its own. One thread at a time.
class Lookup {
 public:
  /// A result of `find` in addition to LMDB's codes: the value is outside of the file.
  static constexpr int outside = -1;

  /// `keys` and `addresses` must outlive the object.
  Lookup(std::shared_ptr<Environment> environment, const KeyIndex& keys, ValueAddresses& addresses)
      : txn_(std::move(environment)), keys_(keys), addresses_(addresses) {}

  /// Returns whether the record's address is known, so that `find` doesn't search the tree.
  bool knows(std::uint64_t index) {
    txn_.get();
    MDB_val value{};
    return addresses_.hold_in(txn_.snapshot()) && addresses_.find(index, value);
  }
  /// Finds a record's value. Returns 0, `outside` or LMDB's code. The value stays in place until `pause`. REQUIRES:
  /// `index` is below the number of records. @throws Error(forked | io); Error like `Environment::require_unchanged`.
  int find(std::uint64_t index, MDB_val& value) {
    MDB_txn* const txn = txn_.get();
    const bool hold = addresses_.hold_in(txn_.snapshot());
    if (hold && addresses_.find(index, value)) return 0;
    environment().require_unchanged();  // before the search, because a writer may have reused the tree's pages
    KeyBuffer buffer;
    MDB_val name = value_of(keys_.key(index, buffer));
    const int code = mdb_get(txn, environment().table(), &name, &value);
    environment().require_unchanged();  // after the search, because a result from reused pages means nothing
    if (code != 0) return code;
    if (!environment().holds(value)) return outside;
    if (hold) addresses_.learn(index, value);
    return 0;
  }
  std::uint64_t records() const noexcept { return keys_.size(); }
  /// Prefetches the addresses that `find` reads for these records.
  void prefetch(std::span<const std::uint64_t> indices) const noexcept {
    for (const std::uint64_t index : indices)
      if (index < keys_.size()) addresses_.prefetch(index);
  }
  void pause() noexcept { txn_.pause(); }
  Environment& environment() const noexcept { return txn_.environment(); }

 private:
  ReadTxn txn_;
  const KeyIndex& keys_;
  ValueAddresses& addresses_;
};

}  // namespace penstock::lmdb
