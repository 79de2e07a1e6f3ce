// Where a command writes a store, and in which form: what --out says.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "console/output.hpp"

namespace penstock::cli {

enum class StoreForm : std::uint8_t { lmdb, shards, hdf5, folder };

/// What the command line says of a store to be written.
struct OutFlags {
  std::string out;
  std::uint64_t shard_samples = 10'000;
  std::string shard_bytes = "1GiB";
  bool sharded = false;   ///< one of these two was given
  std::string form = {};  ///< what `out` does not say by its end: "folder"
};

/// --out, --shard-samples and --shard-bytes. `sharded` is known once the line is parsed.
void add_out_options(CLI::App& command, OutFlags& flags);

/// --form, for commands that write images: a folder of files, which no ending says.
void add_form_option(CLI::App& command, OutFlags& flags);

/// A store to be written.
struct Destination {
  StoreForm form = StoreForm::lmdb;
  std::string path = {};       ///< for the sink: its folder, or file; of shards what their names begin with
  bool single_file = false;    ///< of LMDB and HDF5
  std::string extension = {};  ///< of shards: ".tar", ".h5" or ".hdf5"; else empty
  bool was_there = false;      ///< an LMDB, finished or not

  /// What opens the store: its path, its only shard, or a pattern like "x-{000000..000003}.tar" or "x-*.h5".
  std::string name() const;
  /// The file of shard `number`; of shards alone.
  std::string shard(std::uint64_t number) const;
};

/// Whether something of the store is there, finished or not.
bool is_there(const Destination& store);

/// Takes --out at its word: X.tar are tar shards, X.h5 and X.hdf5 HDF5, X.mdb an LMDB in one file, X, X.lmdb and any X/
/// an LMDB's folder; with --form folder anything a folder of files. @throws UsageError for other extensions, for
/// options that don't fit, and where something else is there already.
Destination destination_of(const OutFlags& flags);

}  // namespace penstock::cli
