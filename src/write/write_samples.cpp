// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "ring/policy.hpp"
#include "write/write.hpp"
#include "write/write_window.hpp"

// Writes samples that share nothing: each is made of a record that is read separately. Samples that the sink has are
// not read.
namespace penstock::detail::runtime {

namespace {

// The work of the caller's thread: fills the window in order, and stores the finished samples.
class SampleWriting {
 public:
  SampleWriting(WriteRun& run, const std::shared_ptr<const PipelineData>& data, Executor::Impl& executor,
                unsigned threads)
      : run_(run),
        options_(run.options()),
        progress_(run.progress),
        window_(data, options_, threads, executor),
        drops_bad_(data->policy_value().policy == OnError::drop),
        ledger_(data->policy_value()),
        items_(*data),
        size_(data->size) {
    progress_.total = size_;
  }

  // Writes all samples. Returns false if the run was stopped before the last sample was done.
  bool write() {
    run_.open();
    for (fill_window(); !window_.empty(); fill_window()) {
      const std::size_t count = window_.take();
      if (stopped()) break;  // work that saw the stop may have left its sample unfinished
      if (count == 0) {
        run_.commit();
        throw window_.reader_error();
      }
      for (std::size_t i = 0; i < count && !stopped(); ++i) put(window_.taken(i));
      window_.pop(count);
    }
    run_.commit();
    if (ahead_ && !stopped()) throw *ahead_;
    run_.take_counts(window_.chain(), window_.totals(), window_.waited_ns());
    return progress_.done == size_;
  }

 private:
  bool stopped() const { return options_.stop.stop_requested(); }

  void fill_window() {
    if (!window_.has_room()) return;
    while (!ahead_ && position_ < size_ && !window_.full() && !stopped()) {
      SinkItem item;
      bool there = false;
      try {
        item = items_.at_position(position_++);
        if (!name(item)) continue;
        there = run_.has(item);
        add_untimed(there);
      } catch (...) {
        ahead_ = current_error();
        break;
      }
      if (there)
        skip();
      else
        window_.admit(std::move(item));
    }
    window_.publish();
    if (ahead_ || position_ == size_) window_.end();
  }

  // Sets the item's key. If the source throws an error that concerns only this record, and the policy drops bad
  // samples, admits the item as a bad sample and returns false. Throws other errors.
  bool name(SinkItem& item) {
    try {
      items_.name(item);
      return true;
    } catch (const Error& error) {
      if (!drops_bad_ || !error.sample_scoped()) throw;
      passing_since_ = 0;
      window_.admit_bad(std::move(item), error);
      return false;
    }
  }

  // Call for each sample that has a key. Subtracts from the measured time the time in which the run only skips samples.
  // `there`: the sink has the present sample. The time since the previous call is subtracted if the sink has the
  // samples of both calls and the window was empty at both. Reads the clock only if the sink has the present sample and
  // the window is empty.
  void add_untimed(bool there) noexcept {
    if (!there || !window_.empty()) {
      passing_since_ = 0;
      return;
    }
    const std::uint64_t now = now_ns();
    if (passing_since_ != 0) run_.add_untimed(now - passing_since_);
    passing_since_ = now;
  }

  void skip() {
    window_.publish();
    ++progress_.skipped;
    ++progress_.done;
    if (options_.progress && progress_.skipped % options_.commit_every == 0) options_.progress(progress_);
  }

  void put(WriteEntry& entry) {
    const bool drops = drops_bad_ && entry.error && entry.error->sample_scoped();
    if ((entry.error || entry.broken) && !drops) {
      run_.commit();
      throw entry.error ? *entry.error : no_memory();
    }
    ++progress_.done;
    if (drops) {
      drop(entry);
    } else if (!entry.kept) {
      ++progress_.filtered;
    } else {
      Sample sample(*entry.values);
      run_.put(entry.item, sample, entry.bytes);
    }
    run_.commit_if_due();
  }

  void drop(WriteEntry& entry) {
    ++progress_.dropped;
    try {
      std::vector<BadSample> bad;
      bad.push_back({entry.item.position, std::move(*entry.error), false});
      ledger_.account(bad, 0);
      if (options_.on_drop) options_.on_drop(bad.front().error);
    } catch (...) {
      run_.commit();
      throw;
    }
  }

  WriteRun& run_;
  const WriteOptions& options_;
  WriteProgress& progress_;
  WriteWindow window_;
  const bool drops_bad_;
  BadSampleLedger ledger_;
  WriteItems items_;
  const std::uint64_t size_;
  std::uint64_t position_ = 0;
  // The time at which the previous sample was found in the sink. 0 if the sink lacked that sample, if the source failed
  // to give its key, or if samples were in work.
  std::uint64_t passing_since_ = 0;

  // An error of the order, of the keys or of the sink. It is thrown after the samples before the failed one are stored.
  std::optional<Error> ahead_;
};

}  // namespace

bool write_samples(WriteRun& run, const std::shared_ptr<const PipelineData>& shared, Executor::Impl& executor,
                   unsigned threads) {
  return SampleWriting(run, shared, executor, threads).write();
}

}  // namespace penstock::detail::runtime
