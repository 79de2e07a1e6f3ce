// SPDX-License-Identifier: Apache-2.0
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

/// Identifies what a cache holds. Equal fingerprints mean equal values.
struct CacheKey {
  /// Hash of all that the values depend on.
  std::uint64_t fingerprint = 0;
  /// What the values depend on: source and stages.
  std::vector<JobFact> made_by = {};
  /// Fields of each kept record.
  Schema schema;
  std::uint64_t records = 0;  ///< number of the source's records
  bool identified = false;    ///< whether the source identifies its data
};

/// Takes records from a cache. One thread at a time.
class PENSTOCK_API CacheReader {
 public:
  virtual ~CacheReader() = default;
  /// Whether the cache has the record. `has` may look at the store again; earlier views are then no longer valid.
  virtual bool has(std::uint64_t index) = 0;
  /// Gives all fields of a record. Views stay valid until the next call of a member of this reader. Returns false if
  /// the record is missing or damaged.
  virtual bool read(std::uint64_t index, SampleBuilder& out) = 0;
  /// Advice: the few records that the reader's runner will read next, like `expect` of a source's reader
  /// (`LeasedSource`).
  virtual void expect(std::span<const std::uint64_t>) noexcept {}
  /// Called when the reader's runner has nothing to do, like `pause` of a source's reader (`LeasedSource`).
  virtual void pause() noexcept {}
};

/// The cached records of one CacheKey. Any thread.
class PENSTOCK_API RecordCache {
 public:
  virtual ~RecordCache() = default;
  /// Whether the cache has the record. Once it returned true, it always does.
  virtual bool has(std::uint64_t index) const noexcept = 0;
  /// Opens a reader for one thread. The reader must not outlive the cache.
  virtual std::unique_ptr<CacheReader> open_reader() = 0;
  /// Copies the record into the cache, or declines to; never waits. A record that the cache already has is offered
  /// again if the cache's copy was damaged and the record was made again.
  virtual void offer(std::uint64_t index, Sample& sample) noexcept = 0;
  /// Whether `will_need` does something. If not, `will_need` is not called.
  virtual bool wants_advice() const noexcept { return false; }
  /// Advice: records that will be read soon. The cache may fetch them early.
  virtual void will_need(std::span<const std::uint64_t>) noexcept {}
  /// Returns what the cache has, and what it declined and why, for plan() and reports.
  virtual std::vector<std::string> notes() const = 0;
};

/// Opens or creates the cache of a key. Any thread.
class PENSTOCK_API CacheMaker {
 public:
  virtual ~CacheMaker() = default;
  /// Throws if it is known, without trying, that no cache can be opened for the key. Called when the stage joins a
  /// pipeline; opens nothing.
  /// @throws Error(invalid_argument).
  virtual void check(const CacheKey&) const {}
  /// Opens or creates the cache. Called once for a pipeline and its copies, when a loader, `write` or `Pipeline::at`
  /// first needs samples. Called again only if `open` threw.
  virtual std::shared_ptr<RecordCache> open(const CacheKey& key) const = 0;
  virtual std::string label() const = 0;  ///< "cache(/data/cache)"
};

/// Makes a stage of a custom cache. The stage may be put where the `cache` in memory may be put, and follows the same
/// rules:
///
///     pipeline | cache(std::make_shared<MyCacheMaker>("/data/cache"))
PENSTOCK_API Stage cache(std::shared_ptr<const CacheMaker> maker, CacheAllows allows = {});

}  // namespace penstock
