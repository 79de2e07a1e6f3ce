// The end of the commands that write a store: records go into the sink that --out names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include "stores/destination.hpp"
#include "stores/write_run.hpp"

namespace penstock::cli {

class LeftOut;

struct OutputStore {
  Destination to = {};
  OutFlags out = {};
  std::string job = {};
  bool bare_values = false;                                   ///< of an LMDB: LSUN's form
  bool number_keys = false;                                   ///< positions in the place of the records' keys
  std::string key_field = {};                                 ///< of HDF5: the dataset of the keys; empty: none
  bool checksums = false;                                     ///< of HDF5
  bool update = false;                                        ///< of an LMDB: replaces what has changed
  bool extend = false;                                        ///< of an LMDB: a finished one gets what it lacks
  LeftOut* left_out = nullptr;                                ///< what it names is left out again; null: nothing is
  std::function<void(const Error&)> on_drop = {};             ///< as of WriteOptions
  std::function<std::string(std::uint64_t done)> where = {};  ///< as of Progress
};

struct Stored {
  Written written;
  bool was_finished = false;
  LmdbUpdate update;
};

/// `doing` is "packing", of `total` records.
Stored write_store(const std::string& doing, const Pipeline& records, std::uint64_t total, const OutputStore& store,
                   const WriteFlags& flags);

/// What of the keys, fields and checksums of records the store's form can't hold; a line each. `key` of record i.
std::vector<std::string> lost_in(const OutputStore& store, const Schema& schema, std::uint64_t records,
                                 const std::function<std::string(std::uint64_t)>& key, bool had_checksums);

/// Where the store puts records into another order, that it does so, in a line; else empty. `key` of record i; null:
/// they have none.
std::string lost_order(const OutputStore& store, std::uint64_t records,
                       const std::function<std::string(std::uint64_t)>& key);

}  // namespace penstock::cli
