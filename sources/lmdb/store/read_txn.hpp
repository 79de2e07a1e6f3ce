// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <memory>

#include "store/environment.hpp"

namespace penstock::lmdb {

/// A read transaction that can be paused. It keeps its reader slot until it is destroyed, and starts paused. One thread
/// at a time. In a child made by fork(), its destructor does nothing, because the slot is the parent's.
class ReadTxn {
 public:
  explicit ReadTxn(std::shared_ptr<Environment> environment);
  ReadTxn(const ReadTxn&) = delete;
  ReadTxn& operator=(const ReadTxn&) = delete;
  ~ReadTxn();

  /// Begins the transaction if it is paused. @throws Error(forked | io); Error like `Environment::require_unchanged`.
  MDB_txn* get() {
    environment_->require_usable();
    if (!active_) [[unlikely]]
      renew();
    return txn_;
  }
  /// Returns the number of the snapshot of the store that the last `get` opened.
  std::size_t snapshot() const noexcept { return snapshot_; }
  void pause() noexcept;
  Environment& environment() const noexcept { return *environment_; }

 private:
  void renew();

  std::shared_ptr<Environment> environment_;
  MDB_txn* txn_ = nullptr;
  std::size_t snapshot_ = 0;
  bool active_ = false;
};

}  // namespace penstock::lmdb
