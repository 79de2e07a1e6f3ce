#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>
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
  std::size_t bytes = 0;  ///< of records at most: 64 for each (more where shapes vary), its fields, each rounded up to
                          ///< 64, and 8 for every record of the source
  CacheAllows allows = {};
};

/// Keeps in memory what the stages before it make of a record, so that in later epochs they are not run: of decoded
/// images, of a resize from large ones. Records are kept by their index in the source, whatever order stands in the
/// pipeline, until `bytes` are full; none is evicted. They live as long as a copy of the pipeline, or a loader over it.
///
///     from(…) | decode_jpeg("image") | resize("image", {256, 256}) | cache({.bytes = GiB(8)}) | random_crop(…) | …
///
/// For caches on disk: <penstock/sources/lmdb_cache.hpp>.
///
/// Before it stand the source and stages that neither draw (see `CacheAllows`) nor change the number of samples, and
/// `check`, where it changes which samples are bad; one cache a pipeline. What the pipeline delivers, its fingerprint
/// and its states are the same with and without it, unless `random` is allowed. A map before it that asks for its place
/// is told epoch 0 and the record's index.
/// @throws Error(invalid_argument), when it joins a pipeline, that names the stage in its way.
PENSTOCK_API Stage cache(CacheOptions options);

namespace detail {

/// What a cache holds: equal fingerprints, equal values.
struct CacheKey {
  std::uint64_t fingerprint = 0;
  std::string made_by;  ///< in words: source and stages, a line each
  Schema schema;
  std::uint64_t records = 0;  ///< of the source
  bool identified = false;    ///< the source says which data it is
};

/// Takes records from a cache. One thread at a time.
class PENSTOCK_API CacheReader {
 public:
  virtual ~CacheReader() = default;
  /// As of the cache; may take a look at the store, and views given before are void then.
  virtual bool has(std::uint64_t index) = 0;
  /// Gives all fields of a record; views stay valid until the next call. False: it isn't there, or is damaged.
  virtual bool read(std::uint64_t index, SampleBuilder& out) = 0;
  /// As of a source's reader.
  virtual void expect(std::span<const std::uint64_t>) noexcept {}
  virtual void pause() noexcept {}
};

/// Records of one key. Any thread.
class PENSTOCK_API CacheModel {
 public:
  virtual ~CacheModel() = default;
  /// Once true, for ever.
  virtual bool has(std::uint64_t index) const noexcept = 0;
  virtual std::unique_ptr<CacheReader> open_reader() = 0;
  /// Copies the record, or declines it; never waits. Of a record that is there: it was found damaged, and made again.
  virtual void offer(std::uint64_t index, Sample& sample) noexcept = 0;
  virtual bool wants_advice() const noexcept { return false; }
  virtual void will_need(std::span<const std::uint64_t>) noexcept {}
  /// What there is, and what was declined and why, for plan() and reports.
  virtual std::vector<std::string> notes() const = 0;
};

/// Opens the cache of a key, or makes it.
class PENSTOCK_API CacheMaker {
 public:
  virtual ~CacheMaker() = default;
  virtual std::shared_ptr<CacheModel> open(const CacheKey& key) const = 0;
  virtual std::string label() const = 0;  ///< "cache(/data/cache)"
};

PENSTOCK_API Stage make_cache(std::shared_ptr<const CacheMaker> maker, CacheAllows allows);

}  // namespace detail

}  // namespace penstock
