// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/loader.hpp>

#include "delivery/delivery.hpp"
#include "delivery/device_ring.hpp"
#include "engine/engine.hpp"
#include "loader/epoch_outcome.hpp"
#include "loader/loader_counts.hpp"
#include "loader/tuning.hpp"
#include "ring/policy.hpp"

namespace penstock {

/// The implementation of a loader. It has the engine, the delivery, the cursor and the counts.
class Loader::Impl {
 public:
  Impl(Pipeline p, LoaderOptions o);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// @throws Error(forked) in a forked child of the process that made the loader.
  void check_process() const;
  /// Checks the process like `check_process`, and checks that batches can be used on these streams, one per device.
  /// @throws Error(forked | invalid_argument | unsupported).
  void check(std::span<const StreamRef> streams) const;
  void stop() noexcept;

  /// Begins the next epoch. Discards the rest of the current epoch, if an epoch is being read.
  void begin_epoch();
  /// Discards the rest of the current epoch if it was begun, if an error ended it, or if the loader resumed from a
  /// state inside it. Otherwise does nothing.
  void end_epoch();
  /// Returns whether the epoch goes on that began when `beginnings()` was `beginning`. `of_epoch`: that epoch's number,
  /// for the error.
  /// @throws Error(invalid_argument) if another epoch was begun or restored since `beginnings()` returned `beginning`.
  bool goes_on(std::uint64_t beginning, std::uint64_t of_epoch) const;

  /// Sets `leases` to the next batch's parts. Returns false if the epoch is over or the loader was stopped.
  bool next(std::span<const StreamRef> streams, std::span<std::unique_ptr<detail::runtime::Lease>> leases);
  std::optional<Batch> next(StreamRef stream);
  std::optional<std::vector<Batch>> next_parts(std::span<const StreamRef> streams);

  State state() const;
  /// Continues from a state. `text`: description of the pipeline that saved the state; empty if it is not known.
  void resume(const State& s, const std::string& text);
  /// Returns the number of the epoch of the next batch.
  std::uint64_t epoch_number() const noexcept { return ended_by_error_ ? epoch_ + 1 : cursor_.epoch; }
  std::uint64_t epoch() const noexcept { return epoch_; }
  /// Returns how many epochs were begun or restored so far.
  std::uint64_t beginnings() const noexcept { return beginnings_; }

  Report report() const;
  void write_trace(const std::string& file) const;
  const Pipeline& pipeline() const noexcept { return pipeline_; }
  const detail::runtime::DeviceModels& devices() const noexcept { return devices_; }
  bool here() const noexcept;

 private:
  using Clock = detail::runtime::LoaderCounts::Clock;
  using Cursor = detail::Cursor;

  bool few_rows(const detail::runtime::BatchInfo& batch) const noexcept;
  [[noreturn]] void refuse(const State& s, const std::string& text) const;
  void check_rows(const detail::runtime::BatchInfo& batch) const;
  Error ended(const detail::runtime::BatchInfo* batch);
  bool over();
  void leave_epoch();
  Cursor beginning_of(std::uint64_t epoch) const noexcept;
  void to_epoch(std::uint64_t number) noexcept;
  void account(detail::runtime::SampleCounts& tally);
  bool account_end();
  void refuse_lost_epoch();
  bool beyond_epochs();
  void tune(std::uint64_t samples, Clock::time_point begun, Clock::time_point now) noexcept;

  Pipeline pipeline_;
  LoaderOptions options_;
  pid_t pid_;
  detail::runtime::BadSampleLedger ledger_;
  std::optional<Executor> executor_;
  // Empty: the caller gets the batch buffers of the ring. Declared before the engine, whose buffers may be memory that
  // a device pinned.
  detail::runtime::DeviceModels devices_;
  detail::TraceLine* line_ = nullptr;  ///< the line of `next()` in the timeline; null: no timeline is kept
  std::shared_ptr<detail::runtime::Engine> engine_;
  std::unique_ptr<detail::runtime::Delivery> delivery_;
  std::unique_ptr<detail::runtime::Tuning> tuning_;  ///< null: the loader does not tune
  std::optional<std::stop_callback<std::function<void()>>> stop_callback_;
  std::optional<detail::runtime::LoaderCounts> counts_;  ///< set after the delivery is created
  /// Facts about the pipeline on which the course of an epoch depends.
  struct EpochFacts {
    std::uint64_t fingerprint = 0, steps = 0;
    bool reordered = false, empty = false;
    bool endless = false;  // an epoch ends after a set number of batches, not with a pass
  };
  EpochFacts epoch_facts_;

  std::uint64_t epoch_ = 0;            // number of the epoch that the caller reads
  Cursor cursor_;                      // cursor after the last delivered batch
  std::optional<Cursor> after_error_;  // cursor after the error that ended the epoch
  detail::runtime::EpochOutcome outcome_;
  // `step_`: delivered batches. `samples_`: samples so far, also dropped bad samples, but not samples that a filter
  // left out. Both include what was counted before a resume.
  std::uint64_t step_ = 0, samples_ = 0;
  std::uint64_t beginnings_ = 0;
  bool in_epoch_ = false, ended_by_error_ = false, must_seek_ = true;

  bool begins_anew_ = false;  ///< a change of settings takes effect at the next `seek`
  bool tuned_ = false;        ///< `tuning_` needs no further batches
};

}  // namespace penstock
