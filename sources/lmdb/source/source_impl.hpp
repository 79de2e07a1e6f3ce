// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "store/advice.hpp"
#include "store/environment.hpp"
#include "store/key_index.hpp"
#include "store/manifest.hpp"
#include "store/record.hpp"
#include "store/value_addresses.hpp"

namespace penstock {

/// An open store, which a source, its copies and its readers share. Immutable, except the stored addresses and the
/// advice.
class LmdbSource::Impl {
 public:
  /// Opens one store.
  static std::shared_ptr<const Impl> open(Lmdb options);
  /// Appends the values of a scalar field of whole numbers to `labels`, one per record of the store.
  void append_labels(std::size_t slot, std::vector<std::int64_t>& labels) const;

  Lmdb options;
  std::shared_ptr<lmdb::Environment> environment;
  lmdb::KeyIndex keys;
  LmdbValues values = LmdbValues::raw;  ///< `automatic` is already resolved
  Schema schema;
  std::uint64_t revision = 0;
  std::optional<lmdb::RecordLayout> layout;  ///< layout of the records; none if the values are not records
  std::unique_ptr<lmdb::ValueAddresses> addresses;
  std::unique_ptr<lmdb::ValueAdviser> advice;

 private:
  void read_manifest(const lmdb::StoreFiles& files, MDB_txn* txn);
  void take_datum_schema(MDB_txn* txn);
};

}  // namespace penstock
