// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What a cache accepts before it.
struct CacheAllows {
  /// Result option: accepts stages that draw. A record's draws are then made once, by its index, and are the same in
  /// every epoch. Part of the cache's key and of the pipeline's fingerprint.
  bool random = false;
  /// Accepts callables without a version (`MapOptions::version`, or a member `version()`). A cache on disk then also
  /// accepts sources that don't identify their data (no member `identity()`). The cache can't see whether one of them
  /// has changed since it was made, so if you change one, delete the cache.
  bool unversioned = false;
};

/// Settings of `cache` in memory.
struct CacheOptions {
  /// Limit in bytes for what the cache keeps. A kept record takes 64 bytes (more if shapes vary), and its fields, each
  /// rounded up to 64 bytes. Each record of the source takes 8 bytes, kept or not.
  std::size_t max_bytes = 0;
  /// What the cache accepts before it.
  CacheAllows allows = {};
};

/// Keeps in memory what the stages before it make of a record, so that later epochs don't run these stages. Use it for
/// decoded images, or for small images resized from large ones. It keeps records by their index in the source, whatever
/// the order, until `max_bytes` are full. It never evicts a record. Kept records live as long as a copy of the pipeline
/// or a loader over it.
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache({.max_bytes = GiB(8)}) | random_crop(…) | …
///
/// For caches on disk: <penstock/sources/lmdb_cache.hpp>.
///
/// A pipeline has at most one cache. The stages before it must not draw (see `CacheAllows`) or change the number of
/// samples. A `check` that changes which samples are bad stands before it.
/// The pipeline's batches, fingerprint and states are the same with and without the cache, unless `random` is allowed.
/// A map before it that asks for its place gets epoch 0 and the record's index.
/// @throws Error(invalid_argument) if a stage may not stand before it (when it joins a pipeline; names the stage).
PENSTOCK_API Stage cache(CacheOptions options);

}  // namespace penstock
