// SPDX-License-Identifier: Apache-2.0
// Where a command writes a store, and in which form: the value of --out.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "console/output.hpp"

namespace penstock::cli {

enum class StoreForm : std::uint8_t { lmdb, shards, hdf5, folder };

/// Flags for a store to be written.
struct OutFlags {
  std::string out;
  std::uint64_t shard_samples = 10'000;
  std::string shard_bytes = "1GiB";
  bool sharded = false;   ///< --shard-samples or --shard-bytes was given
  std::string form = {};  ///< a form that the extension of `out` can't show: "folder"
};

/// Adds --out, --shard-samples and --shard-bytes. `flags.sharded` is set when the command line is parsed.
void add_out_options(CLI::App& command, OutFlags& flags);

/// Adds --form, for commands that write images, because a folder of files has no extension.
void add_form_option(CLI::App& command, OutFlags& flags);

/// A store to be written.
struct StoreToWrite {
  StoreForm form = StoreForm::lmdb;
  std::string path = {};       ///< the sink's folder or file; for shards, the beginning of their names
  bool single_file = false;    ///< whether an LMDB or HDF5 store is one file
  std::string extension = {};  ///< for shards: ".tar" or ".h5"; otherwise empty
  bool was_there = false;      ///< an LMDB existed there before, finished or not

  /// Returns the name that opens the store: its path, its only shard, or a pattern like "x-{000000..000003}.tar" or
  /// "x-*.h5".
  std::string name() const;
  /// Returns the file of shard `number`. For shards only.
  std::string shard(std::uint64_t number) const;
};

/// Returns whether the store's first file exists, finished or not.
bool is_there(const StoreToWrite& store);

/// Interprets --out. X.tar means tar shards. X.h5 and X.hdf5 mean HDF5. X.mdb means an LMDB in one file. X, X.lmdb and
/// any path with '/' at its end mean an LMDB in a folder. With --form folder, any value is a folder of files. @throws
/// UsageError for other extensions, for options that don't fit, and if something else exists there.
StoreToWrite destination_of(const OutFlags& flags);

}  // namespace penstock::cli
