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

/// What sinks share that write one shard after the other, may be killed at any moment, and go on from their last
/// commit: the lock, the file that marks the store as unfinished, the order in which samples are put, and the order in
/// which things reach the disk. What derives from it knows what a shard is. One thread at a time.
class ShardedSink {
 public:
  ShardedSink(const ShardedSink&) = delete;
  ShardedSink& operator=(const ShardedSink&) = delete;
  virtual ~ShardedSink() = default;

  bool was_finished() const noexcept { return was_finished_; }
  void commit();
  void finish();

 protected:
  /// `size` samples are announced, or `unknown_size`. With `sync`, what is committed lasts through a power cut.
  ShardedSink(std::string_view source, ShardNames names, std::uint64_t size, bool sync)
      : source_(source), names_(std::move(names)), size_(size), sync_(sync), lock_(names_.mark()) {}

  /// Finds out what is there, and begins or goes on, where that was made by the same. Called once what derives is made.
  void open(std::vector<JobFact> made_by);

  /// Makes what stands beside the shards, for a store of which nothing is there.
  virtual void begin_store() = 0;
  /// Learns what finished shards hold, which the same has made.
  virtual void take_finished(const ShardNames::Found& found) = 0;
  /// How far the store is, besides samples and shards, and the other way round.
  virtual std::map<std::string, std::uint64_t> numbers(bool finishing) const = 0;
  virtual void take_numbers(const Journal& journal) = 0;
  /// Learns what one of an unfinished store's whole shards holds.
  virtual void take_whole(const std::string& file) = 0;
  /// The shard at work, of which something may be committed.
  virtual void continue_shard() = 0;
  virtual void begin_shard() = 0;
  virtual void end_shard() = 0;
  /// Writes what belongs to a commit, all but the mark.
  virtual void write_commit() = 0;
  /// Samples that were there when the sink was opened.
  virtual std::uint64_t samples_before() const = 0;
  /// One of them, in words: "of the key ...".
  virtual std::string describe_before(std::uint64_t number) const = 0;
  virtual std::string key_of(const SinkItem& item) const = 0;
  /// What to delete of an unfinished store that is given up, in words.
  virtual std::string unfinished_files() const { return names_.unfinished_files(); }
  /// Syncs the files that stand beside the shards while the store is unfinished.
  virtual void sync_beside() {}
  virtual void remove_beside() {}
  /// Writes what stands beside finished shards, before they get their names.
  virtual void write_beside_finished() {}

  bool counted() const noexcept { return size_ != unknown_size; }
  /// @throws Error(closed) where writing has failed before.
  void require_unfailed() const;
  /// @throws Error(invalid_argument) where the item is not the next one; Error(state_mismatch) where the store was
  /// begun by a run that had other samples.
  void check_put(const SinkItem& item);
  /// The item is in work now.
  void count_put() noexcept {
    ++samples_;
    uncommitted_ = true;
  }
  void next_shard();

  /// Where not every position has a sample: whether the item is one that was there, asked in the items' order, some
  /// again. `same` says whether sample `number` that was there is this item.
  template <class Same>
  bool find(const SinkItem& item, const Same& same) {
    const ItemPlace place = place_of(item);
    if (found_ != 0 && place <= last_found_) return place == last_found_;
    if (found_ == samples_before() || !same(found_)) return false;
    ++found_;
    last_found_ = place;
    return true;
  }

  /// Does what may leave a file half written. What a failure left after the last commit is not known: another run cuts
  /// it off.
  template <class Act>
  void guarded(const Act& act) {
    failed_ = true;
    act();
    failed_ = false;
  }
  [[noreturn]] void refuse(Errc code, std::string cause, std::string_view key = {}) const;
  /// What is there can't be this run's.
  [[noreturn]] void refuse_there(const std::string& differs) const;

  const std::string_view source_;
  const ShardNames names_;
  const std::uint64_t size_;
  const bool sync_;
  std::uint64_t samples_ = 0;  ///< samples of all shards
  std::uint64_t shard_ = 0;    ///< the one that is being written
  bool items_known_ = true;    ///< which samples were there

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
