#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Which stages may stand before a cache. Both change results: they are part of its key.
struct CacheAllows {
  /// Stages that draw. Each record is then drawn for once and for all, by its index, not anew in each epoch.
  bool random = false;
  /// Callables that don't say which version they are (`MapOptions::version`, a member `version()`), and, where the
  /// cache outlives them, sources that don't say which data they have (no member `identity()`): whether one has changed
  /// since the cache was made can't be told, so whoever changes it has to delete the cache.
  bool unversioned = false;
};

/// Settings of `cache` in memory.
struct CacheOptions {
  std::size_t max_bytes = 0;  ///< bytes that kept records take at most: 64 for each (more where shapes vary), its
                              ///< fields, each rounded up to 64, and 8 for every record of the source
  /// Which stages may stand before it.
  CacheAllows allows = {};
};

/// Keeps in memory what the stages before it make of a record, so that in later epochs they are not run: of decoded
/// images, of a resize from large ones. Records are kept by their index in the source, whatever order stands in the
/// pipeline, until `max_bytes` are full; none is evicted. They live as long as a copy of the pipeline, or a loader over
/// it.
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache({.max_bytes = GiB(8)}) | random_crop(…) | …
///
/// For caches on disk: <penstock/sources/lmdb_cache.hpp>.
///
/// Before it stand the source and stages that neither draw (see `CacheAllows`) nor change the number of samples, and
/// `check`, where it changes which samples are bad; one cache a pipeline. What the pipeline delivers, its fingerprint
/// and its states are the same with and without it, unless `random` is allowed. A map before it that asks for its place
/// is told epoch 0 and the record's index.
/// @throws Error(invalid_argument), when it joins a pipeline, that names the stage in its way.
PENSTOCK_API Stage cache(CacheOptions options);

}  // namespace penstock
