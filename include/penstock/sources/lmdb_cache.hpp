// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/cache.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `cache` on disk.
struct LmdbCacheOptions {
  // What changes results.
  /// Which stages may come before it.
  CacheAllows allows = {};
  bool verify_checksum = true;  ///< compare each record's checksum when it is read; a damaged record is made again
  // What happens to an existing cache.
  bool replace = false;  ///< empty a cache of another pipeline at `path`. false: refuse it
  // What changes only speed and memory.
  /// Most bytes of the file. Default (0): the free space of the file system when it is opened, less a twentieth. It
  /// takes as much address space, up to 1 TiB.
  std::uint64_t max_bytes = 0;
  /// Bytes of records that may wait to be written. Further records are declined.
  std::size_t max_queue_bytes = 64u << 20;
  /// Every commit reaches the disk. false: a crash of the whole machine (not of the process) may leave a damaged file,
  /// which then has to be deleted.
  bool sync = true;
};

/// Keeps on disk what the stages before it make of a record, for later epochs and later runs: slow decodes, resizes of
/// large images, anything from slow storage. Like `cache` in memory, except for where records are kept:
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache("/scratch/train.cache") | shuffle() | …
///
/// `path` is a folder, created if missing. It gets an LMDB store of our records, whose keys are the records' indices in
/// 8 bytes, big-endian. Runners never wait for the disk: they hand records to one thread that writes, which declines
/// records that it can't keep up with. A declined record is made and offered again in another epoch. When the last copy
/// of the pipeline and the last loader over it are destroyed, the waiting records are written.
///
/// Only the first process that opens the cache writes. Other processes that open it at the same time read what it has.
/// A process may be killed at any moment; what was committed stays. If the disk is full, or fails, writing ends, but
/// not the epoch: `Report::notes` reports it. Nothing is ever evicted. When the cache has every record, other processes
/// can read it as a data set, `from(Lmdb{.path = …})`, and this process can after it has closed it. Pipelines of one
/// process that name the same folder share what the first one opened, with its options.
///
/// The key of a cache is everything that makes the values: the source (identity, size, schema, revision), the stages
/// before the cache (options, versions), and Penstock's version. A file of the source is not noticed as replaced if the
/// new file has the same size, time, beginning, middle and end.
/// @throws Error(invalid_argument), when it joins a pipeline, like `cache` in memory.
///
/// The first loader, `write` or `Pipeline::at` opens it, and throws
/// - Error(state_mismatch) if the cache has another key and `replace` is false; the error says what differs;
/// - Error(invalid_argument) if the store is not a cache;
/// - Error(corrupt | io).
PENSTOCK_API Stage cache(std::string path, LmdbCacheOptions options = {});

}  // namespace penstock
