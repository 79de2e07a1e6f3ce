// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Which index files are written.
struct WebDatasetIndex {
  // What most callers set.
  /// The shards, each like a `WebDataset::path` of shards on this machine. A shard's name ends in ".tar".
  std::vector<std::string> shards;
  /// Folder for the index files. It is created if missing. Default (empty): each file lies beside its shard.
  std::string folder = {};
  // What changes only speed.
  /// Threads that read shards. Default (0): all cores, at most 16.
  unsigned threads = 0;
};

/// What `write_index_files` did.
struct WebDatasetIndexed {
  std::vector<std::string> files;  ///< the index file of each shard, in the order of the shards
  std::uint64_t samples = 0;       ///< samples in all of them together
  std::uint64_t written = 0;       ///< files that were written; the others were there already, with the same bytes
};

/// Writes the index file X.idx of each shard X.tar, in the form v1.2 of DALI's wds2idx, and with the same bytes as
/// that program. Then the shards and their index files can be copied to a server, where `WebDataset` finds the samples
/// by them. Reads the headers of all members, but no other data. Leaves out hidden files and folders.
///
/// Each file is written under another name, X.idx.new, and then renamed. An index file that differs is replaced. Any
/// other file of that name is an error.
/// @throws what opening a WebDataset throws.
/// @throws Error(unsupported), which names the member, if
/// - a member's name has a space or a line break;
/// - a member is sparse;
/// - a link or a device is named like a part of a sample;
/// - more than 1 MiB follows a shard's last sample.
/// @throws Error(invalid_argument) if
/// - a shard has no samples, or its name does not end in ".tar";
/// - two index files would have the same name;
/// - another kind of file has the name.
/// @throws Error(io).
PENSTOCK_API WebDatasetIndexed write_index_files(const WebDatasetIndex& options);

}  // namespace penstock
