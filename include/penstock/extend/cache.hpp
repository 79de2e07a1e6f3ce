#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/job_facts.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/cache.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What a cache holds: equal fingerprints, equal values.
struct CacheKey {
  /// Hash of all that makes the values.
  std::uint64_t fingerprint = 0;
  /// What makes the values: source and stages.
  std::vector<JobFact> made_by = {};
  /// Fields of each record that is kept.
  Schema schema;
  std::uint64_t records = 0;  ///< how many records the source has
  bool identified = false;    ///< the source says which data it is
};

/// Takes records from a cache. One thread at a time.
class PENSTOCK_API CacheReader {
 public:
  virtual ~CacheReader() = default;
  /// True where the cache has the record. May look at the store anew, which ends views that were given before.
  virtual bool has(std::uint64_t index) = 0;
  /// Gives all fields of a record; views stay valid until the next call. False: it isn't there, or is damaged.
  virtual bool read(std::uint64_t index, SampleBuilder& out) = 0;
  /// Tells which few records its runner reads next, as it tells a source's reader (`LeasedSource`).
  virtual void expect(std::span<const std::uint64_t>) noexcept {}
  /// Called when its runner has nothing to do, as for a source's reader (`LeasedSource`).
  virtual void pause() noexcept {}
};

/// Records of one key. Any thread.
class PENSTOCK_API RecordCache {
 public:
  virtual ~RecordCache() = default;
  /// True where the cache has the record; from then on always.
  virtual bool has(std::uint64_t index) const noexcept = 0;
  /// A reader for one thread, which lives no longer than the cache.
  virtual std::unique_ptr<CacheReader> open_reader() = 0;
  /// Copies the record, or declines it; never waits. A record that the cache has already is offered where it was found
  /// damaged, and made again.
  virtual void offer(std::uint64_t index, Sample& sample) noexcept = 0;
  /// True where `will_need` does something: otherwise it is not called.
  virtual bool wants_advice() const noexcept { return false; }
  /// Records that will be asked for soon, so that the cache can have them fetched.
  virtual void will_need(std::span<const std::uint64_t>) noexcept {}
  /// What there is, and what was declined and why, for plan() and reports.
  virtual std::vector<std::string> notes() const = 0;
};

/// Opens the cache of a key, or makes it. Any thread.
class PENSTOCK_API CacheMaker {
 public:
  virtual ~CacheMaker() = default;
  /// Refuses a key that no cache can be opened for, where that is known before it is tried. Asked when the stage joins
  /// a pipeline; opens nothing. @throws Error(invalid_argument).
  virtual void check(const CacheKey&) const {}
  /// Asked once for a pipeline and its copies, when a loader, `write` or `Pipeline::at` first needs samples; again only
  /// where it threw.
  virtual std::shared_ptr<RecordCache> open(const CacheKey& key) const = 0;
  virtual std::string label() const = 0;  ///< "cache(/data/cache)"
};

/// A cache of your own as a stage. It stands where `cache` of memory may, and follows the same rules:
///
///     pipeline | cache(std::make_shared<MyCacheMaker>("/data/cache"))
PENSTOCK_API Stage cache(std::shared_ptr<const CacheMaker> maker, CacheAllows allows = {});

}  // namespace penstock
