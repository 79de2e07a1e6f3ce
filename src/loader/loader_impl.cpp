// SPDX-License-Identifier: Apache-2.0
#include "loader/loader_impl.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/executor_impl.hpp"
#include "base/failure.hpp"
#include "base/process.hpp"
#include "base/profiled_range.hpp"
#include "base/trace.hpp"
#include "delivery/device_delivery.hpp"
#include "delivery/host_delivery.hpp"
#include "device/staging_memory.hpp"
#include "loader/loader_setup.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

Loader::Impl::Impl(Pipeline p, LoaderOptions o)
    : pipeline_(std::move(p)), options_(std::move(o)), pid_(process_id()), ledger_(pipeline_.data().policy_value()) {
  const detail::PipelineData& data = pipeline_.data();
  if (!data.batch) throw Error(Errc::invalid_argument, "a loader needs batches: end the pipeline with | batch(n)");
  if (data.schema.size() == 0) throw Error(Errc::schema_mismatch, "the pipeline has no fields left to batch");
  detail::check_threads(options_.threads);
  detail::check_not_forked();
  devices_ = detail::runtime::open_devices(data, options_);
  executor_.emplace(options_.executor ? *options_.executor : detail::runtime::own_executor(options_));
  detail::DeviceModel* const device = devices_.empty() ? nullptr : devices_[0].get();
  epoch_facts_.steps = data.steps();
  epoch_facts_.reordered = data.reordered();
  epoch_facts_.endless = data.fixed_steps() != 0;
  detail::runtime::check_steps(data);
  detail::runtime::check_neighbours(data, devices_);
  epoch_facts_.empty = epoch_facts_.reordered ? data.size == 0 : epoch_facts_.steps == 0;
  const detail::runtime::MemoryRequest request =
      detail::runtime::memory_request(data, options_, executor_->threads(), devices_);
  detail::runtime::MemoryPlan plan = detail::runtime::plan_memory(request);
  if (const std::string& shortage = executor_->impl().shortage(); !shortage.empty())
    plan.notes.push_back(shortage);
  else if (request.threads < options_.threads)
    plan.notes.push_back("the executor has " + std::to_string(request.threads) +
                         (request.threads == 1 ? " thread for the " : " threads for the ") +
                         std::to_string(options_.threads) + " runners that were asked for");
  data.open();
  epoch_facts_.fingerprint = detail::facts_of(pipeline_.data()).of_state();
  detail::runtime::RunSetup setup;
  setup.data = std::make_shared<const detail::PipelineData>(data);
  setup.plan = std::move(plan);
  setup.epochs = options_.epochs;
  setup.has_threads_alone = !options_.executor;
  constexpr std::size_t most_slices = std::size_t{1} << 26;
  if (options_.trace > most_slices)
    throw Error(Errc::invalid_argument, "`trace` is at most " + std::to_string(most_slices) + " slices of each line");
  if (options_.trace != 0) {
    setup.trace = std::make_shared<detail::Trace>(options_.trace);
    line_ = &setup.trace->line("next()");
  }
  if (options_.host_memory != nullptr) setup.memory = options_.host_memory;
  if (options_.tune && !setup.plan.growth)
    setup.plan.notes.push_back(
        "`tune` has nothing to change: what it would change is set, or there is no memory for more");
  setup.decodes_on_device = detail::runtime::decodes_on_devices(data, devices_, setup.plan.notes);
  if (device == nullptr) {
    setup.stages_in_place = data.device != nullptr;
    engine_ = std::make_shared<detail::runtime::Engine>(std::move(setup), executor_->impl());
    delivery_ = detail::runtime::host_delivery(engine_);
  } else {
    const detail::DeviceGuard entered(*device);
    std::shared_ptr<detail::StagingMemory> staging;
    if (options_.host_memory == nullptr)
      setup.buffer_memory = staging = std::make_shared<detail::StagingMemory>(devices_[0]);
    engine_ = std::make_shared<detail::runtime::Engine>(std::move(setup), executor_->impl());
    delivery_ = detail::runtime::device_delivery(devices_, engine_,
                                                 {.memory = options_.device_resource,
                                                  .staging = std::move(staging),
                                                  .grows = options_.growth == Growth::on_demand});
  }
  counts_.emplace(*engine_, *delivery_);
  if (engine_->setup().plan.growth)
    tuning_ =
        std::make_unique<detail::runtime::Tuning>(*engine_, device == nullptr ? 0 : engine_->setup().plan.device_depth);
  stop_callback_.emplace(options_.stop, [this] { stop(); });
}

Loader::Impl::~Impl() {
  stop_callback_.reset();
  delivery_->close();
}

bool Loader::Impl::here() const noexcept { return process_id() == pid_; }

void Loader::Impl::check_process() const {
  if (!here())
    throw Error(Errc::forked,
                "a loader does not survive fork(): its threads are in the parent; fork before the first loader is "
                "made, or exec in the child");
}

void Loader::Impl::check(std::span<const StreamRef> streams) const {
  check_process();
  const std::size_t parts = delivery_->parts();
  if (streams.size() != parts)
    throw Error(Errc::invalid_argument,
                parts == 1 ? "a loader of one device takes one stream, not " + std::to_string(streams.size())
                           : "batches are shared out among " + std::to_string(parts) +
                                 " devices: take them with next_parts, with a stream for each device");
  delivery_->check(streams);
}

// Does nothing in a forked child. No runner exists there that could be stopped, and a thread that exists only in the
// parent may hold the mutex.
void Loader::Impl::stop() noexcept {
  if (here()) delivery_->stop();
}

// -- epochs --

void Loader::Impl::begin_epoch() {
  check_process();
  if (engine_->stopped()) return;
  if (in_epoch_ || ended_by_error_) leave_epoch();
  in_epoch_ = true;
  ++beginnings_;
}

void Loader::Impl::end_epoch() {
  check_process();
  const bool inside = cursor_.number != 0 || (!epoch_facts_.endless && (cursor_.position != 0 || cursor_.child != 0));
  if (in_epoch_ || ended_by_error_ || inside) leave_epoch();
}

void Loader::Impl::leave_epoch() {
  // If the epoch's end has already arrived, it is discarded and its samples are not counted. If they were counted, the
  // counts would depend on how far the runners are.
  bool read_to_the_end = !ended_by_error_ && !must_seek_ && cursor_.epoch != epoch_;
  if (read_to_the_end && epoch_facts_.reordered) read_to_the_end = delivery_->take_epoch_end(epoch_).has_value();
  if (epoch_facts_.endless && ended_by_error_ && after_error_) cursor_ = *after_error_;
  after_error_.reset();
  to_epoch(epoch_ + 1);
  if (!read_to_the_end) must_seek_ = true;
  in_epoch_ = ended_by_error_ = false;
}

bool Loader::Impl::goes_on(std::uint64_t beginning, std::uint64_t of_epoch) const {
  check_process();
  if (beginning != beginnings_)
    throw Error(Errc::invalid_argument,
                "these are the batches of epoch " + std::to_string(of_epoch) +
                    ", which was given up: the loader is at "
                    "epoch " +
                    std::to_string(epoch_) +
                    " since epoch(), next() or resume() was called. One loader gives "
                    "one epoch at a time: end this loop first, or give the other one a loader of its own");
  return in_epoch_;
}

detail::Cursor Loader::Impl::beginning_of(std::uint64_t epoch) const noexcept {
  Cursor begin = epoch_facts_.endless ? cursor_ : Cursor{};
  begin.epoch = epoch;
  begin.number = 0;
  return begin;
}

void Loader::Impl::to_epoch(std::uint64_t number) noexcept {
  epoch_ = number;
  cursor_ = beginning_of(number);
  outcome_.begin(true);
}

bool Loader::Impl::over() {
  in_epoch_ = false;
  counts_->end_epoch(Clock::now());
  return false;
}

// Ends the epoch, and returns the exception in flight as an Error. `batch`: the batch that caused the exception, or
// null. Call inside a catch block.
Error Loader::Impl::ended(const detail::runtime::BatchInfo* batch) {
  in_epoch_ = false;
  ended_by_error_ = true;
  after_error_ = batch != nullptr ? std::optional(batch->next) : delivery_->after_failure();
  return detail::current_error();
}

// -- batches --

std::optional<Batch> Loader::Impl::next(StreamRef stream) {
  std::unique_ptr<detail::runtime::Lease> lease;
  if (!next({&stream, 1}, {&lease, 1})) return std::nullopt;
  return Batch(std::move(lease));
}

std::optional<std::vector<Batch>> Loader::Impl::next_parts(std::span<const StreamRef> streams) {
  std::vector<std::unique_ptr<detail::runtime::Lease>> leases(streams.size());
  std::vector<Batch> parts;
  parts.reserve(streams.size());
  if (!next(streams, leases)) return std::nullopt;
  for (auto& lease : leases) parts.emplace_back(std::move(lease));
  return parts;
}

bool Loader::Impl::next(std::span<const StreamRef> streams, std::span<std::unique_ptr<detail::runtime::Lease>> leases) {
  check(streams);
  if (!in_epoch_) begin_epoch();
  if (engine_->stopped() || beyond_epochs()) return over();
  const Clock::time_point begun = Clock::now();
  counts_->begin_call(begun);
  delivery_->ask(streams);
  const detail::TracedRange traced(line_, "next");
  for (;;) {
    if (epoch_facts_.empty || (!epoch_facts_.reordered && cursor_.epoch != epoch_)) {
      refuse_lost_epoch();
      to_epoch(epoch_ + 1);
      return over();
    }
    // A change of settings waits if all batches of the epoch were delivered, because a `seek` would discard the epoch's
    // end.
    if (must_seek_ || (begins_anew_ && cursor_.epoch == epoch_)) {
      delivery_->seek(cursor_, {ledger_.acted(), samples_});
      must_seek_ = begins_anew_ = false;
      if (tuning_ != nullptr) tuning_->begin_window();
    }
    detail::runtime::BatchInfo* made = nullptr;
    try {
      for (std::size_t i = 0; i < leases.size(); ++i) leases[i] = delivery_->make_lease(i);
      const detail::ProfiledRange range("wait for batch");
      const detail::TracedRange waiting(line_, "wait for batch");
      made = delivery_->wait(epoch_);
      if (made == nullptr) {
        if (account_end()) to_epoch(epoch_ + 1);
        return over();
      }
      if (made->overflow) throw *made->overflow;
      check_rows(*made);
    } catch (const detail::runtime::LeasesExhausted&) {
      throw;  // the caller can release a batch and try again
    } catch (...) {
      throw ended(made);
    }
    const bool wanted = !few_rows(*made) || options_.few_rows != FewRows::drop;
    if (wanted) delivery_->arrive(*made, streams);
    try {
      account(*made);
    } catch (...) {
      throw ended(made);
    }
    outcome_.note_rows(*made);
    samples_ += made->samples;
    cursor_ = made->next;
    if (!wanted) {
      delivery_->skip(*made);
      continue;
    }
    ++step_;
    const Clock::time_point now = counts_->deliver(*made, begun, ledger_);
    const std::uint64_t samples = made->valid;
    delivery_->take(leases, *made, streams);
    if (tuning_ != nullptr && !tuned_) tune(samples, begun, now);
    counts_->mark_if_due(now);
    return true;
  }
}

// Returns whether the batch has fewer rows than there are devices.
bool Loader::Impl::few_rows(const detail::runtime::BatchInfo& batch) const noexcept {
  return delivery_->parts() > 1 && batch.rows < delivery_->parts();
}

void Loader::Impl::check_rows(const detail::runtime::BatchInfo& batch) const {
  if (!few_rows(batch) || options_.few_rows != FewRows::error) return;
  throw Error(Errc::limit_exceeded, "batch " + std::to_string(batch.number) + " of epoch " +
                                        std::to_string(batch.epoch) + " has " + std::to_string(batch.rows) +
                                        " rows for " + std::to_string(delivery_->parts()) +
                                        " devices; say with `few_rows` what becomes of it, or end epochs with whole "
                                        "batches (Tail::drop or Tail::pad)")
      .with_stage("batch");
}

bool Loader::Impl::beyond_epochs() {
  if (options_.epochs == 0 || epoch_ < options_.epochs) return false;
  counts_->note_beyond(options_.epochs);
  return true;
}

// -- outcomes of samples --

void Loader::Impl::account(detail::runtime::SampleCounts& tally) {
  if (tally.unreported) throw detail::no_memory();
  ledger_.account(tally.bad, samples_, tally.unlisted);
  outcome_.note_bad(tally.bad, epoch_);
  counts_->note_messages(ledger_);
}

// Counts the samples that the epoch's end reports. Returns false if the loader was stopped before the end was known.
bool Loader::Impl::account_end() {
  std::optional<detail::runtime::EpochEnd> end = delivery_->take_epoch_end(epoch_);
  if (!end) return false;
  // If the epoch had a batch with the pass's last sample, the cursor is already at the next epoch.
  const bool no_batch = cursor_.epoch == epoch_ && cursor_.number == 0 && cursor_.position == 0 && cursor_.child == 0;
  const detail::runtime::BadSampleLedger before = ledger_;
  account(*end);
  outcome_.note_end(*end);
  try {
    refuse_lost_epoch();
  } catch (...) {
    if (pipeline_.data().policy_value().policy == OnError::drop) ledger_ = before;  // the epoch may be tried again
    throw;
  }
  samples_ += end->samples;
  counts_->note_end(ledger_, no_batch);
  return true;
}

void Loader::Impl::refuse_lost_epoch() {
  const OnError policy = pipeline_.data().policy_value().policy;
  const std::optional<Error> lost = outcome_.lost(policy, epoch_);
  if (!lost) return;
  if (policy != OnError::drop) cursor_ = beginning_of(epoch_ + 1);  // the epoch's batches were delivered
  in_epoch_ = false;
  ended_by_error_ = true;
  throw *lost;
}

// -- tuning, and reports --

void Loader::Impl::tune(std::uint64_t samples, Clock::time_point begun, Clock::time_point now) noexcept {
  using Next = detail::runtime::Tuning::Next;
  const auto to_ns = [](Clock::time_point time) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
  };
  try {
    const Next next = tuning_->delivered(to_ns(begun), to_ns(now), samples);
    if (next == Next::done) tuned_ = true;
    if (next == Next::done || next == Next::go_on) return;
    if (next == Next::begin_anew) begins_anew_ = true;
    counts_->begin_anew();
  } catch (...) {  // no memory: the settings are not changed any more
    tuned_ = true;
  }
}

void Loader::Impl::write_trace(const std::string& file) const {
  check_process();
  const detail::Trace* const trace = engine_->setup().trace.get();
  if (trace == nullptr)
    throw Error(Errc::invalid_argument,
                "this loader keeps no timeline: say with "
                "`LoaderOptions::trace` how many slices of each line it keeps");
  trace->write(file);
}

Report Loader::Impl::report() const {
  check_process();
  Report report = counts_->report();
  if (tuning_ != nullptr) report.tuning = tuning_->report();
  return report;
}

}  // namespace penstock
