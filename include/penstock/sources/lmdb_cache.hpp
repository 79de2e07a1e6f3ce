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
  /// Which stages and sources may come before the cache.
  CacheAllows allows = {};
  bool verify_checksum = true;  ///< compare each record's checksum when the record is read; make damaged records again
  // What happens to an existing cache.
  bool replace = false;  ///< if true, a cache of another pipeline at `path` is emptied; if false, opening throws
  // What changes only speed and memory.
  /// Largest size of the cache's file in bytes, at most 1 TiB. Default (0): the file's size when the cache is opened,
  /// plus 95 % of the file system's free space. The writing process needs that much address space. If the system
  /// refuses it, the limit is halved, down to 256 MiB.
  std::uint64_t max_bytes = 0;
  /// Bytes of records that may wait to be written. If more bytes would wait, a record is declined, except when no other
  /// record waits.
  std::size_t max_queue_bytes = 64u << 20;
  /// If true, every commit reaches the disk. If false, a crash of the whole machine (not of the process) may leave a
  /// damaged file, which has to be deleted.
  bool sync = true;
};

/// Keeps on disk what the stages before it make of a record, for later epochs and later runs. Use it after slow
/// decodes, after resizes of large images, or for slow storage. It works like `cache` in memory, but keeps records in a
/// folder:
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache("/scratch/train.cache") | shuffle() | …
///
/// `path` is a folder, created if missing. The cache makes an LMDB store there, with records in the format of LmdbSink.
/// Their keys are the records' indices in 8 bytes, big-endian. Runners never wait for the disk: they hand records to
/// one writing thread. If that thread can't keep up, records are declined. A declined record is made again in a later
/// epoch, and handed to the thread again. When the last copy of the pipeline and the last loader over it are destroyed,
/// the waiting records are written.
///
/// Only the first process that opens the cache writes. Other processes that open the cache at the same time only read
/// the records that it has. A process may be killed at any moment; records that were committed stay. If the disk is
/// full or fails, or the cache is full, writing ends, but the epoch continues. `Report::notes` reports that writing has
/// ended. Records are never evicted. When the cache has every record, other processes can read it as a data set,
/// `from(Lmdb{.path = …})`. The process that writes can do so after it has closed the cache. Pipelines of one process
/// that name the same folder share one cache, with the options of the pipeline that opened it first.
///
/// The key of a cache is everything that makes the values: the source (identity, size, schema, revision), the stages
/// before the cache (options, versions), and Penstock's version. The cache does not notice that a file of the source
/// was replaced if the new file has the same size, time, beginning, middle and end.
/// @throws Error(invalid_argument) if `path` is empty or has a zero byte. Also when the cache joins a pipeline, for the
/// same reasons as `cache` in memory.
///
/// The first loader, `write` or `Pipeline::at` opens the cache, and throws
/// - Error(state_mismatch) if the cache has another key, and `replace` is false or the cache is in use; the error says
///   what differs;
/// - Error(invalid_argument) if the store is not a cache;
/// - Error(out_of_memory) if there is no address space for the file;
/// - Error(corrupt | io).
PENSTOCK_API Stage cache(std::string path, LmdbCacheOptions options = {});

}  // namespace penstock
