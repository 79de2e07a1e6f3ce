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
  /// Which stages may stand before it.
  CacheAllows allows = {};
  bool verify_checksum = true;  ///< compare each record's checksum when it is read; a damaged one is made again
  // What becomes of what is there.
  bool replace = false;  ///< a cache of another pipeline at `path` is emptied; else it is refused
  // What changes only speed.
  std::uint64_t max_bytes = 0;  ///< bytes that the file may have; 0: what the file system has free when it is opened,
                                ///< less a twentieth. As much address space is taken, up to 1 TiB
  /// Bytes of records that may wait to be written; what comes beyond is declined.
  std::size_t max_queue_bytes = 64u << 20;
  bool sync = true;  ///< every commit reaches the disk. false: a crash of the whole machine (not of the process) may
                     ///< leave a damaged file, which has to be deleted then
};

/// Keeps on disk what the stages before it make of a record, for later epochs and later runs: of slow decodes, of
/// resizes from large images, of anything from slow storage. As `cache` in memory but for where records are:
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache("/scratch/train.cache") | shuffle() | …
///
/// `path` is a folder, made where missing, that gets an LMDB store of our records under their index in 8 bytes,
/// big-endian. Runners never wait for the disk: they hand records to one thread that writes, which declines what it
/// can't keep up with; a declined record is made and offered again in another epoch. When the last copy of the pipeline
/// and the last loader over it are gone, what waits is written.
///
/// One process writes, which is the first to open it; others that open it meanwhile read what is there. A process may
/// be killed at any moment; what was committed stays. A full disk, or one that fails, ends the writing, not the epoch:
/// `Report::notes` says so. Nothing is ever evicted. Once it has every record, it can be read as a data set,
/// `from(Lmdb{.path = …})`, by other processes or when this one has let go of it. Pipelines of one process that name
/// the same folder share what the first one opened, with its options. A file of the source that is replaced by one of
/// the same size, time, beginning, middle and end is not noticed.
///
/// The key is everything that makes the values: identity, size, schema and revision of the source, the stages before
/// it with options and versions, the version of Penstock.
/// @throws Error(invalid_argument), when it joins a pipeline, as `cache` in memory does. It is opened by the first
/// loader, `write` or `Pipeline::at`, which throw Error(state_mismatch) for a cache of another key, with what differs,
/// unless `replace`; Error(invalid_argument) for a store that is no cache; Error(corrupt | io).
PENSTOCK_API Stage cache(std::string path, LmdbCacheOptions options = {});

}  // namespace penstock
