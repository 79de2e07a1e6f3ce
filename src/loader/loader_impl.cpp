#include "loader/loader_impl.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/executor_impl.hpp"
#include "base/failure.hpp"
#include "base/process.hpp"
#include "base/profiled_range.hpp"
#include "base/trace.hpp"
#include "data/state.hpp"
#include "delivery/device_delivery.hpp"
#include "delivery/host_delivery.hpp"
#include "device/staging_memory.hpp"
#include "loader/loader_setup.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

Loader::Impl::Impl(Pipeline p, LoaderOptions o)
    : pipeline_(std::move(p)),
      options_(std::move(o)),
      pid_(detail::process_id()),
      ledger_(pipeline_.data().policy_value()) {
  const detail::PipelineData& data = pipeline_.data();
  if (!data.batch) throw Error(Errc::invalid_argument, "a loader needs batches: end the pipeline with | batch(n)");
  if (data.schema.size() == 0) throw Error(Errc::schema_mismatch, "the pipeline has no fields left to batch");
  detail::check_threads(options_.threads);
  detail::check_not_forked();
  devices_ = detail::open_devices(data, options_);
  executor_.emplace(options_.executor ? *options_.executor : detail::own_executor(options_));
  detail::DeviceModel* const device = devices_.empty() ? nullptr : devices_[0].get();
  steps_ = data.steps();
  reordered_ = data.reordered();
  endless_ = data.fixed_steps() != 0;
  detail::check_steps(data);
  empty_ = reordered_ ? data.size == 0 : steps_ == 0;
  const detail::MemoryRequest request = detail::memory_request(data, options_, executor_->threads(), devices_);
  detail::MemoryPlan plan = detail::plan_memory(request);
  if (const std::string& shortage = executor_->impl().shortage(); !shortage.empty())
    plan.notes.push_back(shortage);
  else if (request.threads < options_.threads)
    plan.notes.push_back("the executor has " + std::to_string(request.threads) +
                         (request.threads == 1 ? " thread for the " : " threads for the ") +
                         std::to_string(options_.threads) + " runners that were asked for");
  data.open();
  fingerprint_ = detail::facts_of(pipeline_.data()).of_state();
  detail::RunSetup setup;
  setup.data = std::make_shared<const detail::PipelineData>(data);
  setup.plan = std::move(plan);
  setup.epochs = options_.epochs;
  setup.has_threads_alone = !options_.executor;
  constexpr std::size_t most_slices = std::size_t{1} << 26;
  if (options_.trace > most_slices)
    throw Error(Errc::invalid_argument, "`trace` is at most " + std::to_string(most_slices) + " slices of each line");
  if (options_.trace != 0) {
    setup.trace = std::make_shared<detail::Trace>(options_.trace);
    lane_ = &setup.trace->lane("next()");
  }
  if (options_.host_memory != nullptr) setup.memory = options_.host_memory;
  if (options_.tune && !setup.plan.growth)
    setup.plan.notes.push_back(
        "`tune` has nothing to change: what it would change is set, or there is no memory for more");
  setup.decodes_on_device = detail::decodes_on_devices(data, devices_, setup.plan.notes);
  if (device == nullptr) {
    engine_ = std::make_shared<detail::Engine>(std::move(setup), executor_->impl());
    delivery_ = detail::host_delivery(engine_);
  } else {
    const detail::Entered entered(*device);
    std::shared_ptr<detail::StagingMemory> staging;
    if (options_.host_memory == nullptr)
      setup.buffer_memory = staging = std::make_shared<detail::StagingMemory>(devices_[0]);
    engine_ = std::make_shared<detail::Engine>(std::move(setup), executor_->impl());
    delivery_ = detail::device_delivery(devices_, engine_,
                                        {.memory = options_.device_resource,
                                         .staging = std::move(staging),
                                         .grows = options_.growth == Growth::on_demand});
  }
  if (data.device) count_delivered_fields();
  if (engine_->setup().plan.growth)
    tuning_ = std::make_unique<detail::Tuning>(*engine_, device == nullptr ? 0 : engine_->setup().plan.device_depth);
  stop_callback_.emplace(options_.stop, [this] { stop(); });
}

Loader::Impl::~Impl() {
  stop_callback_.reset();
  delivery_->close();
}

bool Loader::Impl::here() const noexcept { return detail::process_id() == pid_; }

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

// In a forked child nothing runs that could be stopped, and the mutex may be held by a thread that is not there.
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
  const bool inside = cursor_.number != 0 || (!endless_ && (cursor_.position != 0 || cursor_.child != 0));
  if (in_epoch_ || ended_by_error_ || inside) leave_epoch();
}

void Loader::Impl::leave_epoch() {
  // What a reordered epoch's end has to tell is told by next() alone: here it would depend on how far the runners are.
  bool read_to_the_end = !ended_by_error_ && !must_seek_ && cursor_.epoch != epoch_;
  if (read_to_the_end && reordered_) read_to_the_end = delivery_->take_epoch_end(epoch_).has_value();
  if (endless_ && ended_by_error_ && after_error_) cursor_ = *after_error_;
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
  Cursor begin = endless_ ? cursor_ : Cursor{};
  begin.epoch = epoch;
  begin.number = 0;
  return begin;
}

void Loader::Impl::to_epoch(std::uint64_t number) noexcept {
  epoch_ = number;
  cursor_ = beginning_of(number);
  made_ = {};
}

bool Loader::Impl::over() {
  in_epoch_ = false;
  note_cores(Clock::now());
  return false;
}

// The exception in flight ends the epoch, at this batch where it is one's. Call inside a catch block.
Error Loader::Impl::ended(const detail::BatchInfo* batch) {
  in_epoch_ = false;
  ended_by_error_ = true;
  after_error_ = batch != nullptr ? std::optional(batch->next) : delivery_->after_failure();
  return detail::current_error();
}

// -- batches --

std::optional<Batch> Loader::Impl::next(StreamRef stream) {
  std::unique_ptr<detail::Lease> lease;
  if (!next({&stream, 1}, {&lease, 1})) return std::nullopt;
  return Batch(std::move(lease));
}

std::optional<std::vector<Batch>> Loader::Impl::next_parts(std::span<const StreamRef> streams) {
  std::vector<std::unique_ptr<detail::Lease>> leases(streams.size());
  std::vector<Batch> parts;
  parts.reserve(streams.size());
  if (!next(streams, leases)) return std::nullopt;
  for (auto& lease : leases) parts.emplace_back(std::move(lease));
  return parts;
}

bool Loader::Impl::next(std::span<const StreamRef> streams, std::span<std::unique_ptr<detail::Lease>> leases) {
  check(streams);
  if (!in_epoch_) begin_epoch();
  if (engine_->stopped() || beyond_epochs()) return over();
  const Clock::time_point begun = Clock::now();
  note_caller(begun);
  delivery_->ask(streams);
  const detail::TracedRange traced(lane_, "next");
  for (;;) {
    if (empty_ || (!reordered_ && cursor_.epoch != epoch_)) {
      refuse_lost_epoch();
      to_epoch(epoch_ + 1);
      return over();
    }
    // Not where all batches of the epoch are delivered: its end is still to be told.
    if (must_seek_ || (begins_anew_ && cursor_.epoch == epoch_)) {
      delivery_->seek(cursor_, {ledger_.acted(), samples_});
      must_seek_ = begins_anew_ = false;
      if (tuning_ != nullptr) tuning_->begin_window();
    }
    detail::BatchInfo* made = nullptr;
    try {
      for (std::size_t i = 0; i < leases.size(); ++i) leases[i] = delivery_->make_lease(i);
      const detail::ProfiledRange range("wait for batch");
      const detail::TracedRange waiting(lane_, "wait for batch");
      made = delivery_->wait(epoch_);
      if (made == nullptr) {
        if (account_end()) to_epoch(epoch_ + 1);
        return over();
      }
      if (made->overflow) throw *made->overflow;
      check_rows(*made);
    } catch (const detail::LeasesExhausted&) {
      throw;  // the caller can let go of a batch and go on
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
    note_rows(*made);
    samples_ += made->samples;
    cursor_ = made->next;
    if (!wanted) {
      delivery_->skip(*made);
      continue;
    }
    ++step_;
    const Clock::time_point now = count(*made, begun);
    const std::uint64_t samples = made->valid;
    delivery_->take(leases, *made, streams);
    if (tuning_ != nullptr && !tuned_) tune(samples, begun, now);
    if (now - marked_ >= mark_every) mark(now);
    return true;
  }
}

// Some device would have none.
bool Loader::Impl::few_rows(const detail::BatchInfo& batch) const noexcept {
  return delivery_->parts() > 1 && batch.rows < delivery_->parts();
}

void Loader::Impl::check_rows(const detail::BatchInfo& batch) const {
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
  const std::lock_guard lock(counters_mutex_);
  counters_.beyond_epochs = options_.epochs;
  return true;
}

// -- states --

State Loader::Impl::state() const {
  check_process();
  constexpr std::uint64_t most = ~std::uint32_t{0};
  if (cursor_.epoch > most) throw Error(Errc::limit_exceeded, "a state has room for epochs below 2^32");
  State s;
  s.fingerprint = fingerprint_;
  s.seed = pipeline_.seed();
  s.epoch = static_cast<std::uint32_t>(cursor_.epoch);
  s.number = static_cast<std::uint32_t>(std::min(cursor_.number, most));
  s.position = cursor_.position;
  s.child = cursor_.child;
  s.window_batches = cursor_.window_batches;
  s.step = step_;
  s.samples = samples_;
  s.replaced = static_cast<std::uint32_t>(std::min(ledger_.acted(), most));
  s.check = detail::state_checksum(s);
  return s;
}

void Loader::Impl::resume(const State& s, const std::string& text) {
  check_process();
  detail::check_state(s);
  if (s.seed != pipeline_.seed())
    throw Error(Errc::state_mismatch, "the state was saved with seed " + std::to_string(s.seed) +
                                          ", this pipeline has " + std::to_string(pipeline_.seed()));
  if (s.fingerprint != fingerprint_) refuse(s, text);
  const std::uint64_t rows = pipeline_.batch_size(), number = reordered_ || endless_ ? s.number : s.position / rows;
  const bool begins_batch = reordered_ || (s.position % rows == 0 && s.child == 0);
  const bool fits = begins_batch && (endless_     ? s.number < pipeline_.data().fixed_steps()
                                     : reordered_ ? s.position < pipeline_.size() || s.position == 0
                                                  : number <= steps_);
  if (!fits || (s.window_batches != 0 && !pipeline_.data().bucket))
    throw Error(Errc::state_mismatch, "the state's position " + std::to_string(s.position) +
                                          " is not the beginning of a batch of this pipeline");
  cursor_ = {s.epoch, number, s.position, s.child, s.window_batches};
  made_ = {.whole = number == 0 && s.window_batches == 0 && (endless_ || (s.position == 0 && s.child == 0))};
  if (!reordered_ && !endless_ && number == steps_ && steps_ != 0) {
    cursor_ = {s.epoch + std::uint64_t{1}, 0, 0, 0};
    made_ = {};
  }
  epoch_ = cursor_.epoch;
  step_ = s.step;
  samples_ = s.samples;
  ledger_.resume(s.replaced);
  in_epoch_ = ended_by_error_ = false;
  after_error_.reset();
  must_seek_ = true;
  ++beginnings_;
}

void Loader::Impl::refuse(const State& s, const std::string& text) const {
  const detail::PipelineFacts facts = detail::facts_of(pipeline_.data());
  const std::string differs = facts.what_differs(text), parts = facts.aspects_that_differ(s.fingerprint);
  std::string cause = "the state belongs to another pipeline";
  if (!differs.empty())
    cause += ": " + differs + "; go on with the pipeline that it was saved of, or begin anew";
  else
    cause += (parts.empty() ? ", in something that it does not name" : "; what differs is " + parts) +
             "; compare with what plan() says, and save with Loader::save to have it told in words";
  throw Error(Errc::state_mismatch, std::move(cause));
}

}  // namespace penstock
