// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>

#include "common/shard_names.hpp"
#include "common/sinks/item_place.hpp"
#include "common/sinks/journal.hpp"

namespace penstock::common {

/// Base of sinks that write one shard after the other, may be killed at any moment, and continue from their last
/// commit. The base takes the lock, writes the file that marks the store as unfinished, checks the order of samples,
/// and makes data reach the disk in the right order. Derived classes know what a shard is. One thread at a time.
class ShardedSink {
 public:
  ShardedSink(const ShardedSink&) = delete;
  ShardedSink& operator=(const ShardedSink&) = delete;
  virtual ~ShardedSink() = default;

  bool was_finished() const noexcept { return was_finished_; }
  void commit();
  void finish();

 protected:
  /// `size`: the announced number of samples, or `unknown_size`. With `sync`, committed data survive a power cut.
  ShardedSink(std::string_view source, ShardNames names, std::uint64_t size, bool sync)
      : source_(source), names_(std::move(names)), size_(size), sync_(sync), lock_(names_.mark()) {}

  /// Looks for files of the store. Begins the store if there are no files. Continues an unfinished store of the same
  /// job, and reads a finished one. Call this once, when the derived object is complete.
  void open(std::vector<JobFact> made_by);

  /// Creates the files next to the shards of a new store.
  virtual void begin_store() = 0;
  /// Reads which samples are in the shards of a finished store of the same job.
  virtual void take_finished(const ShardNames::Found& found) = 0;
  /// Returns the derived class's numbers for `Journal::committed`. `take_numbers` restores them.
  virtual std::map<std::string, std::uint64_t> numbers(bool finishing) const = 0;
  virtual void take_numbers(const Journal& journal) = 0;
  /// Reads which samples are in a complete shard of an unfinished store.
  virtual void take_whole(const std::string& file) = 0;
  /// Continues the current shard. Some of its samples may be committed.
  virtual void continue_shard() = 0;
  virtual void begin_shard() = 0;
  virtual void end_shard() = 0;
  /// Writes everything of a commit except the mark.
  virtual void write_commit() = 0;
  /// Returns the number of samples that the store had when the sink was opened.
  virtual std::uint64_t samples_before() const = 0;
  /// Describes a sample that the store had when the sink was opened: "of the key ...". `number` counts these samples
  /// from 0.
  virtual std::string describe_before(std::uint64_t number) const = 0;
  virtual std::string key_of(const SinkItem& item) const = 0;
  /// Describes the files to delete if an unfinished store is given up.
  virtual std::string unfinished_files() const { return names_.unfinished_files(); }
  /// Syncs the files next to the shards while the store is unfinished.
  virtual void sync_beside() {}
  virtual void remove_beside() {}
  /// Writes the files that a finished store has next to its shards. Called before the shards get their final names.
  virtual void write_beside_finished() {}

  bool counted() const noexcept { return size_ != unknown_size; }
  /// @throws Error(closed) if writing has failed before.
  void require_unfailed() const;
  /// Checks that the item may be put next. @throws Error(closed) if writing has failed before; Error(invalid_argument)
  /// if the item is out of order, or one more than announced; what `refuse_there` throws if the store on disk has other
  /// samples.
  void check_put(const SinkItem& item);
  /// Notes that the item is being written.
  void count_put() noexcept {
    ++samples_;
    uncommitted_ = true;
  }
  void next_shard();

  /// For stores in which not every position has a sample: returns whether the store had the item when the sink was
  /// opened. Call this in the items' order. The caller may ask again for an item that the store did not have.
  /// `same(number)` returns whether sample `number` of the store is this item.
  template <class Same>
  bool find(const SinkItem& item, const Same& same) {
    const ItemPlace place = place_of(item);
    if (found_ != 0 && place <= last_found_) return place == last_found_;
    if (found_ == samples_before() || !same(found_)) return false;
    ++found_;
    last_found_ = place;
    return true;
  }

  /// Calls `act`, which may leave a file half written. After a failure, the data after the last commit are unknown; the
  /// next run cuts them off.
  template <class Act>
  void guarded(const Act& act) {
    failed_ = true;
    act();
    failed_ = false;
  }
  [[noreturn]] void refuse(Errc code, std::string cause, std::string_view key = {}) const;
  /// Throws the Error for a store on disk that can't be this run's: invalid_argument if that store is finished, else
  /// state_mismatch.
  [[noreturn]] void refuse_there(const std::string& differs) const;

  const std::string_view source_;
  const ShardNames names_;
  const std::uint64_t size_;
  const bool sync_;
  std::uint64_t samples_ = 0;  ///< samples of all shards
  std::uint64_t shard_ = 0;    ///< the shard that is being written
  bool items_known_ = true;    ///< false: it is unknown which samples the store had when the sink was opened

 private:
  void take_lock(std::optional<Error>& no_lock);
  void resume(const std::string& text, const ShardNames::Found& found);
  void require_all_found() const;
  void write_mark(bool finishing, bool sync) const;
  void take_finished_store(const ShardNames::Found& found);
  Journal read_journal(const std::string& file, const std::string& text) const;
  void require_same(const std::vector<JobFact>& there) const;

  std::vector<JobFact> made_by_;
  MarkLock lock_;
  bool was_finished_ = false, finishing_ = false, failed_ = false, uncommitted_ = false;
  std::uint64_t found_ = 0;
  ItemPlace last_found_;
  std::optional<ItemPlace> last_put_;
};

}  // namespace penstock::common
