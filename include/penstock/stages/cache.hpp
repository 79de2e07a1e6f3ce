// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Which stages and sources a cache accepts before it.
struct CacheAllows {
  /// Result option: accepts stages that draw. A record's draws are then made only once, by its index, and are the same
  /// in every epoch. This option is part of the cache's key and of the pipeline's fingerprint.
  bool random = false;
  /// Accepts callables without a version (`MapOptions::version`, or a member `version()`). A cache on disk then also
  /// accepts sources that don't identify their data (no member `identity()`). The cache can't see a change of such a
  /// callable or source. So delete the cache after a change.
  bool unversioned = false;
};

/// Settings of `cache` in memory.
struct CacheOptions {
  /// Limit in bytes for the cache's memory. Must be set. A kept record takes 64 bytes (more if shapes vary), and the
  /// bytes of its fields, each rounded up to a multiple of 64. In addition, each record of the source takes 8 bytes,
  /// whether it is kept or not.
  std::size_t max_bytes = 0;
  /// Which stages and sources the cache accepts before it.
  CacheAllows allows = {};
};

/// Keeps in memory what the stages before it make of a record, so that later epochs don't run these stages. Use it for
/// decoded images, or for small images resized from large ones. The cache keeps records by their index in the source,
/// in any order, until `max_bytes` are used. It never evicts a record. Kept records stay as long as a copy of the
/// pipeline, or a loader over it, exists.
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache({.max_bytes = GiB(8)}) | random_crop(…) | …
///
/// Caches on disk are in <penstock/sources/lmdb_cache.hpp>.
///
/// A pipeline has at most one cache. The stages before it must not draw (see `CacheAllows`) or change the number of
/// samples. The resize of an image that is decoded with `scale = fit` must be one of them. A `check` that changes which
/// samples are bad must stand before the cache. The pipeline's batches, fingerprint and states are the same with and
/// without the cache, unless `random` is allowed. In a map before the cache, `Context::place` has epoch 0 and the
/// record's index.
/// @throws Error(invalid_argument) if `max_bytes` is 0.
/// @throws Error(invalid_argument) when the cache joins a pipeline, if a stage before it is not allowed there. The
/// error names that stage.
PENSTOCK_API Stage cache(CacheOptions options);

}  // namespace penstock
