// SPDX-License-Identifier: Apache-2.0
// The last part of the commands that write a store: writes records into the sink that --out names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "stores/store_to_write.hpp"
#include "stores/write_run.hpp"

namespace penstock::cli {

class LeftOut;

struct OutputStore {
  StoreToWrite to = {};
  OutFlags out = {};
  std::string job = {};
  bool bare_values = false;                        ///< for an LMDB: the values are files without a header, as in LSUN
  bool number_keys = false;                        ///< keys are the records' positions instead of their own keys
  std::string key_field = {};                      ///< for HDF5: the dataset of the keys; empty: keys are not stored
  bool checksums = false;                          ///< for HDF5: stores checksums
  bool update = false;                             ///< for an LMDB: replaces records that have changed
  bool extend = false;                             ///< for an LMDB: adds missing records to a finished store
  LeftOut* left_out = nullptr;                     ///< what is left out again; null: nothing
  std::function<void(const Error&)> on_drop = {};  ///< see WriteOptions
  std::function<std::string(std::uint64_t done)> where = {};  ///< see Progress
};

struct StoreResult {
  WriteResult written;
  bool was_finished = false;
  LmdbUpdate update;
};

/// Writes the records. `doing` names the work, for example "packing". `total`: the number of records.
StoreResult write_store(const std::string& doing, const Pipeline& records, std::uint64_t total,
                        const OutputStore& store, const WriteFlags& flags);

/// Returns a line for each property of the records that the store's form changes or can't hold. These are keys, names
/// of fields, checksums, and how fields are put into batches. `key` returns the key of record i; null: records have no
/// keys.
std::vector<std::string> lost_in(const OutputStore& store, const Schema& schema, std::uint64_t records,
                                 const std::function<std::string(std::uint64_t)>& key, bool had_checksums);

/// Returns a line if the store puts records into a different order; otherwise an empty text. `key` returns the key of
/// record i; null: records have no keys.
std::string lost_order(const OutputStore& store, std::uint64_t records,
                       const std::function<std::string(std::uint64_t)>& key);

}  // namespace penstock::cli
