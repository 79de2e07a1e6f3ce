#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/loader.hpp>

#include "base/core_time.hpp"
#include "base/latency.hpp"
#include "base/run_delay.hpp"
#include "delivery/delivery.hpp"
#include "delivery/device_ring.hpp"
#include "engine/engine.hpp"
#include "loader/tuning.hpp"
#include "report/delivery_counters.hpp"
#include "report/run_mark.hpp"
#include "ring/policy.hpp"

namespace penstock {

/// What a loader is: which epoch and batch it stands at, and what was counted on the way.
class Loader::Impl {
 public:
  Impl(Pipeline p, LoaderOptions o);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// @throws Error(forked) in a child of the process that made it.
  void check_process() const;
  /// Checks the process, and whether batches can go on these streams, one for each device.
  void check(std::span<const StreamRef> streams) const;
  void stop() noexcept;

  /// Gives up what is left of the epoch in hand, if there is one, and begins the next.
  void begin_epoch();
  /// Gives up what is left of the epoch in hand; one that a state brought back is one where something of it was
  /// delivered.
  void end_epoch();
  /// Whether batches of that beginning are still to come. @throws Error(invalid_argument) where another epoch has begun
  /// since.
  bool goes_on(std::uint64_t beginning, std::uint64_t of_epoch) const;

  /// False: the epoch is over.
  bool next(std::span<const StreamRef> streams, std::span<std::unique_ptr<detail::Lease>> leases);
  std::optional<Batch> next(StreamRef stream);
  std::optional<std::vector<Batch>> next_parts(std::span<const StreamRef> streams);

  State state() const;
  /// `text`: the pipeline that it was saved of, where its file has it.
  void resume(const State& s, const std::string& text);
  /// Number of the epoch that the next batch belongs to.
  std::uint64_t epoch_number() const noexcept { return ended_by_error_ ? epoch_ + 1 : cursor_.epoch; }
  std::uint64_t epoch() const noexcept { return epoch_; }
  /// How many epochs were begun, or brought back, so far.
  std::uint64_t beginnings() const noexcept { return beginnings_; }

  Report report() const;
  void write_trace(const std::string& file) const;
  const Pipeline& pipeline() const noexcept { return pipeline_; }
  const detail::DeviceModels& devices() const noexcept { return devices_; }
  bool here() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  using Cursor = detail::Cursor;

  bool few_rows(const detail::BatchInfo& batch) const noexcept;
  [[noreturn]] void refuse(const State& s, const std::string& text) const;
  void check_rows(const detail::BatchInfo& batch) const;
  Error ended(const detail::BatchInfo* batch);
  bool over();
  void leave_epoch();
  Cursor beginning_of(std::uint64_t epoch) const noexcept;
  void to_epoch(std::uint64_t number) noexcept;
  void account(detail::SampleTally& tally);
  bool account_end();
  void note_rows(const detail::BatchInfo& batch) noexcept;
  void refuse_lost_epoch();
  bool beyond_epochs();
  Clock::time_point count(const detail::BatchInfo& batch, Clock::time_point begun) noexcept;
  void count_delivered_fields();
  void tune(std::uint64_t samples, Clock::time_point begun, Clock::time_point now) noexcept;
  void mark(Clock::time_point now) noexcept;
  detail::RunMark mark_now() const;
  void note_caller(Clock::time_point now) noexcept;
  void note_cores(Clock::time_point now) noexcept;

  Pipeline pipeline_;
  LoaderOptions options_;
  pid_t pid_;
  detail::PolicyLedger ledger_;
  std::optional<Executor> executor_;
  detail::DeviceModels devices_;       // none: the host. Before the engine, whose buffers may be their memory
  detail::TraceLane* lane_ = nullptr;  ///< the line of next() in the timeline; null: none is kept
  std::shared_ptr<detail::Engine> engine_;
  std::unique_ptr<detail::Delivery> delivery_;
  std::unique_ptr<detail::Tuning> tuning_;  ///< null: nothing is tuned
  std::optional<std::stop_callback<std::function<void()>>> stop_callback_;
  std::uint64_t fingerprint_ = 0, steps_ = 0;
  // Bytes of a delivered row at fixed addresses, where stages stand after `batch`.
  std::uint64_t delivered_row_bytes_ = 0;
  // Fields of the batch before those stages that stay, of rows of any size.
  std::vector<std::size_t> delivered_appended_;
  bool reordered_ = false, empty_ = false;
  bool endless_ = false;  // an epoch ends after so many batches, wherever the data are

  std::uint64_t epoch_ = 0;            // epoch that the caller reads
  Cursor cursor_;                      // where the batch after the last one delivered begins
  std::optional<Cursor> after_error_;  // cursor after the error that ended the epoch
  // What was made of the epoch that the caller reads.
  struct Made {
    bool whole = true;      // it was read from its beginning
    bool good = false;      // a sample that did not fail
    std::uint64_t bad = 0;  // counted until there is a good one
  };
  Made made_;
  std::optional<Error> first_bad_;  // of the last epoch that had one, which was:
  std::uint64_t first_bad_of_ = 0;
  std::uint64_t step_ = 0, samples_ = 0;  // delivered batches and samples, those before a resume as well
  std::uint64_t beginnings_ = 0;
  bool in_epoch_ = false, ended_by_error_ = false, must_seek_ = true;

  static constexpr std::chrono::seconds mark_every{5};
  bool begins_anew_ = false;  ///< what was changed takes effect where the run is begun again
  bool tuned_ = false;        ///< `tuning_` has seen all that it wants to
  Clock::time_point first_call_{}, marked_{};
  detail::Latency latency_;
  detail::DelayMeter caller_;
  std::thread::id caller_thread_;
  mutable std::mutex counters_mutex_;
  // Under the mutex, as reports are any thread's:
  detail::DeliveryCounters counters_;
  std::optional<detail::CoreTime> cores_first_, cores_last_;  // at the first call, and where an epoch ended
  std::optional<detail::RunMark> begin_;            // where tuning changed something: there begins what a report tells
  std::optional<detail::RunMark> lately_, latest_;  // some seconds ago; the later one: once the next is made
};

}  // namespace penstock
