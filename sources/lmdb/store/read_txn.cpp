// SPDX-License-Identifier: Apache-2.0
#include "store/read_txn.hpp"

#include <utility>

#include "store/errors.hpp"

namespace penstock::lmdb {

ReadTxn::ReadTxn(std::shared_ptr<Environment> environment) : environment_(std::move(environment)) {
  environment_->require_usable();
  check(mdb_txn_begin(environment_->handle(), nullptr, MDB_RDONLY, &txn_), "beginning to read", environment_->file());
  mdb_txn_reset(txn_);  // pauses the transaction, but keeps its reader slot
}

ReadTxn::~ReadTxn() {
  if (environment_->usable()) mdb_txn_abort(txn_);
}

void ReadTxn::pause() noexcept {
  if (!active_ || !environment_->usable()) return;
  mdb_txn_reset(txn_);
  active_ = false;
}

void ReadTxn::renew() {
  environment_->require_unchanged();
  check(mdb_txn_renew(txn_), "going on reading", environment_->file());
  snapshot_ = mdb_txn_id(txn_);
  active_ = true;
}

}  // namespace penstock::lmdb
