#pragma once

#include <lmdb.h>

#include <cstddef>
#include <memory>

#include "store/environment.hpp"

namespace penstock::lmdb {

/// A read transaction that keeps its reader slot for life and can be paused; paused at first. One thread at a time, any
/// one. In a child made by fork() it is abandoned, as its slot is the parent's.
class ReadTxn {
 public:
  explicit ReadTxn(std::shared_ptr<Environment> environment);
  ReadTxn(const ReadTxn&) = delete;
  ReadTxn& operator=(const ReadTxn&) = delete;
  ~ReadTxn();

  /// Begins where paused. @throws Error(forked | io).
  MDB_txn* get() {
    environment_->require_usable();
    if (!active_) [[unlikely]]
      renew();
    return txn_;
  }
  /// Number of the store's state that `get` last gave a look at.
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
