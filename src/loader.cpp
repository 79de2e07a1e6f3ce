#include <penstock/loader.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include <penstock/error.hpp>

#include "budget.hpp"
#include "device_delivery.hpp"
#include "failure.hpp"
#include "host_delivery.hpp"
#include "latency.hpp"
#include "loader_setup.hpp"
#include "pipeline_data.hpp"
#include "pipeline_facts.hpp"
#include "policy.hpp"
#include "profiled_range.hpp"
#include "state.hpp"
#include "verdict.hpp"

namespace penstock {

using detail::Cursor;
using Clock = std::chrono::steady_clock;

class Loader::Impl {
 public:
  Impl(Pipeline p, LoaderOptions o)
      : pipeline(std::move(p)), options(std::move(o)), pid(::getpid()), ledger(pipeline.data().policy_value()) {
    const detail::PipelineData& data = pipeline.data();
    if (!data.batch) throw Error(Errc::invalid_argument, "a loader needs batches: end the pipeline with | batch(n)");
    if (data.schema.size() == 0) throw Error(Errc::schema_mismatch, "the pipeline has no fields left to batch");
    detail::check_threads(options.threads);
    executor.emplace(options.executor ? *options.executor : Executor(options.threads));
    executor->impl().check_process();
    devices = detail::open_devices(data, options);
    detail::DeviceModel* const device = devices.empty() ? nullptr : devices[0].get();
    steps = data.steps();
    settled = data.settled();
    endless = data.fixed_steps() != 0;
    detail::check_steps(data);
    empty = settled ? data.size == 0 : steps == 0;
    const detail::BudgetRequest request = detail::budget_request(data, options, executor->threads(), devices);
    budget = detail::resolve_budget(request);
    if (request.threads < options.threads)
      budget.notes.push_back("the executor has " + std::to_string(request.threads) +
                             (request.threads == 1 ? " thread for the " : " threads for the ") +
                             std::to_string(options.threads) + " runners that were asked for");
    detail::EngineOptions engine_options;
    engine_options.threads = budget.threads;
    engine_options.depth = budget.depth;
    engine_options.scratch_limit = budget.scratch_limit;
    engine_options.epochs = options.epochs;
    engine_options.cells = budget.cells;
    engine_options.origins = budget.origins;
    engine_options.origin_limit = budget.origin_limit;
    engine_options.block_limit = budget.block_limit;
    engine_options.slot_limit = budget.slot_limit;
    engine_options.cell_limit = budget.cell_limit;
    engine_options.memory = options.host_memory != nullptr ? options.host_memory : &host_memory();
    if (device != nullptr && options.host_memory == nullptr) engine_options.slot_memory = &device->pinned_memory();
    fingerprint = detail::facts_of(pipeline.data()).of_state();
    if (data.device) delivered_row_bytes = detail::RowLayout(data.delivered()).row_bytes();
    const std::shared_ptr<const detail::PipelineData> shared = std::make_shared<detail::PipelineData>(data);
    if (device == nullptr) {
      engine = std::make_shared<detail::Engine>(shared, engine_options, executor->impl());
      delivery = detail::host_delivery(engine);
    } else {
      const detail::Entered entered(*device);
      engine = std::make_shared<detail::Engine>(shared, engine_options, executor->impl());
      delivery = detail::device_delivery(devices, engine, shared,
                                         {.depth = budget.device_depth,
                                          .memory = options.device_resource,
                                          .grows = options.growth == Growth::on_demand,
                                          .epochs = options.epochs,
                                          .rows_limit = budget.device_rows_limit});
    }
    stop_callback.emplace(options.stop, [this] { stop(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    stop_callback.reset();
    delivery->close();
  }

  void check_process() const {
    if (::getpid() != pid)
      throw Error(Errc::forked,
                  "a loader does not survive fork(): its threads are in the parent; fork before the first loader is "
                  "made, or exec in the child");
  }

  void check(std::span<const StreamRef> streams) const {
    check_process();
    const std::size_t parts = delivery->parts();
    if (streams.size() != parts)
      throw Error(Errc::invalid_argument,
                  parts == 1 ? "a loader of one device takes one stream, not " + std::to_string(streams.size())
                             : "batches are shared out among " + std::to_string(parts) +
                                   " devices: take them with next_parts, with a stream for each device");
    delivery->check(streams);
  }

  // In a forked child nothing runs that could be stopped, and the mutex may be held by a thread that is not there.
  void stop() noexcept {
    if (::getpid() == pid) delivery->stop();
  }

  void begin_epoch() {
    check_process();
    if (engine->stopped()) return;
    if (in_epoch || ended_by_error) {
      // What a settled epoch's end has to tell is told by next() alone: here it would depend on how far the runners
      // are.
      bool read_to_the_end = !ended_by_error && !must_seek && cursor.epoch != epoch;
      if (read_to_the_end && settled) read_to_the_end = delivery->take_epoch_end(epoch).has_value();
      if (endless && ended_by_error && behind_error) cursor = *behind_error;
      behind_error.reset();
      to_epoch(epoch + 1);
      if (!read_to_the_end) must_seek = true;
    }
    ended_by_error = false;
    in_epoch = true;
  }

  std::optional<Batch> next(StreamRef stream) {
    std::unique_ptr<detail::Lease> lease;
    if (!next({&stream, 1}, {&lease, 1})) return std::nullopt;
    return Batch(std::move(lease));
  }

  std::optional<std::vector<Batch>> next_parts(std::span<const StreamRef> streams) {
    std::vector<std::unique_ptr<detail::Lease>> leases(streams.size());
    std::vector<Batch> parts;
    parts.reserve(streams.size());
    if (!next(streams, leases)) return std::nullopt;
    for (auto& lease : leases) parts.emplace_back(std::move(lease));
    return parts;
  }

  // False: the epoch is over.
  bool next(std::span<const StreamRef> streams, std::span<std::unique_ptr<detail::Lease>> leases) {
    check(streams);
    if (!in_epoch) begin_epoch();
    if (engine->stopped() || (options.epochs != 0 && epoch >= options.epochs)) return end_epoch();
    const Clock::time_point begun = Clock::now();
    if (first_call == Clock::time_point{}) first_call = begun;
    for (;;) {
      if (empty || (!settled && cursor.epoch != epoch)) {
        to_epoch(epoch + 1);
        return end_epoch();
      }
      if (must_seek) {
        delivery->seek(cursor, {ledger.acted(), samples});
        must_seek = false;
      }
      detail::BatchInfo* made = nullptr;
      try {
        for (std::size_t i = 0; i < leases.size(); ++i) leases[i] = delivery->make_lease(i);
        const detail::ProfiledRange range("wait for batch");
        made = delivery->wait(epoch);
        if (made == nullptr) {
          if (account_end()) to_epoch(epoch + 1);
          return end_epoch();
        }
        if (made->overflow) throw *made->overflow;
        check_rows(*made);
      } catch (const detail::LeasesExhausted&) {
        throw;  // the caller can let go of a batch and go on
      } catch (...) {
        throw ended(made);
      }
      const bool wanted = !few_rows(*made) || options.few_rows != FewRows::drop;
      if (wanted) delivery->arrive(*made, streams);
      try {
        account(made->bad, made->unlisted, made->unreported);
      } catch (...) {
        throw ended(made);
      }
      samples += made->samples;
      cursor = made->next;
      if (!wanted) {
        delivery->skip(*made);
        continue;
      }
      ++step;
      count(*made, begun);
      delivery->take(leases, *made, streams);
      return true;
    }
  }

  // Some device would have none.
  bool few_rows(const detail::BatchInfo& batch) const noexcept {
    return delivery->parts() > 1 && batch.rows < delivery->parts();
  }

  void check_rows(const detail::BatchInfo& batch) const {
    if (!few_rows(batch) || options.few_rows != FewRows::error) return;
    throw Error(Errc::limit_exceeded, "batch " + std::to_string(batch.number) + " of epoch " +
                                          std::to_string(batch.epoch) + " has " + std::to_string(batch.rows) +
                                          " rows for " + std::to_string(delivery->parts()) +
                                          " devices; say with `few_rows` what becomes of it, or end epochs with whole "
                                          "batches (Tail::drop or Tail::pad)")
        .with_stage("batch");
  }

  // The exception in flight ends the epoch, at this batch where it is one's. Call inside a catch block.
  Error ended(const detail::BatchInfo* batch) {
    in_epoch = false;
    ended_by_error = true;
    behind_error = batch != nullptr ? std::optional(batch->next) : delivery->behind_failure();
    return detail::current_error();
  }

  bool end_epoch() {
    in_epoch = false;
    return false;
  }

  void to_epoch(std::uint64_t number) noexcept {
    epoch = number;
    cursor = endless ? Cursor{number, 0, cursor.position, cursor.child, cursor.part} : Cursor{number, 0, 0, 0};
  }

  void account(std::vector<detail::BadSample>& bad, std::uint64_t unlisted, bool broken) {
    if (broken) throw detail::no_memory();
    ledger.account(bad, samples, unlisted);
    if (ledger.messages().size() == counters.messages.size()) return;
    const std::lock_guard lock(counters_mutex);
    counters.messages = ledger.messages();
  }

  // False: there was a stop, and how the epoch ends is not known.
  bool account_end() {
    std::optional<detail::EpochEnd> end = delivery->take_epoch_end(epoch);
    if (!end) return false;
    account(end->bad, end->unlisted, end->broken);
    samples += end->samples;
    const std::lock_guard lock(counters_mutex);
    counters.acted = ledger.acted_here();
    return true;
  }

  void count(const detail::BatchInfo& batch, Clock::time_point begun) noexcept {
    const Clock::time_point now = Clock::now();
    const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now - begun).count());
    latency.record(ns);
    const std::uint64_t bytes =
        pipeline.data().device ? batch.rows * delivered_row_bytes : engine->slots().layout().bytes_of(batch);
    const std::lock_guard lock(counters_mutex);
    counters.batches += 1;
    counters.samples += batch.valid;
    counters.bytes += bytes;
    counters.next_ns += ns;
    if (counters.batches == 1) counters.first_batch_ns = ns;
    counters.elapsed_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now - first_call).count());
    counters.acted = ledger.acted_here();
  }

  State state() const {
    check_process();
    constexpr std::uint64_t most = ~std::uint32_t{0};
    if (cursor.epoch > most) throw Error(Errc::limit_exceeded, "a state has room for epochs below 2^32");
    State s;
    s.fingerprint = fingerprint;
    s.seed = pipeline.seed();
    s.epoch = static_cast<std::uint32_t>(cursor.epoch);
    s.number = static_cast<std::uint32_t>(std::min(cursor.number, most));
    s.position = cursor.position;
    s.child = cursor.child;
    s.part = cursor.part;
    s.step = step;
    s.samples = samples;
    s.replaced = static_cast<std::uint32_t>(std::min(ledger.acted(), most));
    s.check = detail::state_checksum(s);
    return s;
  }

  // `text`: the pipeline that it was saved of, where its file has it.
  void resume(const State& s, const std::string& text) {
    check_process();
    detail::check_state(s);
    if (s.seed != pipeline.seed())
      throw Error(Errc::state_mismatch, "the state was saved with seed " + std::to_string(s.seed) +
                                            ", this pipeline has " + std::to_string(pipeline.seed()));
    if (s.fingerprint != fingerprint) refuse(s, text);
    const std::uint64_t rows = pipeline.batch_size(), number = settled ? s.number : s.position / rows;
    const bool fits = endless   ? s.number < pipeline.data().fixed_steps()
                      : settled ? s.position < pipeline.size() || s.position == 0
                                : s.position % rows == 0 && number <= steps && s.child == 0;
    if (!fits || (s.part != 0 && !pipeline.data().bucket))
      throw Error(Errc::state_mismatch, "the state's position " + std::to_string(s.position) +
                                            " is not the beginning of a batch of this pipeline");
    cursor = {s.epoch, number, s.position, s.child, s.part};
    if (!settled && number == steps && steps != 0) cursor = {s.epoch + std::uint64_t{1}, 0, 0, 0};
    epoch = cursor.epoch;
    step = s.step;
    samples = s.samples;
    ledger.resume(s.replaced);
    in_epoch = ended_by_error = false;
    behind_error.reset();
    must_seek = true;
  }

  [[noreturn]] void refuse(const State& s, const std::string& text) const {
    const detail::PipelineFacts facts = detail::facts_of(pipeline.data());
    const std::string differs = facts.what_differs(text), parts = facts.parts_that_differ(s.fingerprint);
    std::string cause = "the state belongs to another pipeline";
    if (!differs.empty())
      cause += ": " + differs + "; go on with the pipeline that it was saved of, or begin anew";
    else
      cause += (parts.empty() ? ", in something that it does not name" : "; what differs is " + parts) +
               "; compare with what plan() says, and save with Loader::save to have it told in words";
    throw Error(Errc::state_mismatch, std::move(cause));
  }

  Pipeline pipeline;
  LoaderOptions options;
  pid_t pid;
  detail::PolicyLedger ledger;
  std::optional<Executor> executor;
  detail::Budget budget;
  detail::DeviceModels devices;  // none: the host. Before the engine, whose slots may be their memory
  std::shared_ptr<detail::Engine> engine;
  std::unique_ptr<detail::Delivery> delivery;
  std::optional<std::stop_callback<std::function<void()>>> stop_callback;
  std::uint64_t fingerprint = 0, steps = 0;
  std::uint64_t delivered_row_bytes = 0;  // where stages stand behind `batch`
  bool settled = false, empty = false;
  bool endless = false;  // an epoch ends behind so many batches, wherever the data are

  std::uint64_t epoch = 0;              // that the caller reads
  Cursor cursor;                        // of the batch behind the last one delivered
  std::optional<Cursor> behind_error;   // that ended the epoch
  std::uint64_t step = 0, samples = 0;  // delivered, those before a resume as well
  bool in_epoch = false, ended_by_error = false, must_seek = true;

  Clock::time_point first_call{};
  detail::Latency latency;
  mutable std::mutex counters_mutex;
  detail::DeliveryCounters counters;
};

void EpochRange::advance() {
  current_.release();
  if (auto batch = loader_->next(stream_)) {
    current_ = std::move(*batch);
  } else {
    done_ = true;
  }
}

EpochRange::iterator EpochRange::begin() {
  loader_->impl_->check({&stream_, 1});  // before anything of the epoch is over
  loader_->begin_epoch();
  advance();
  return iterator(this);
}

Loader::Loader(Pipeline pipeline, LoaderOptions options) try
    : impl_(std::make_unique<Impl>(std::move(pipeline), std::move(options))) {
} catch (...) {
  throw detail::current_error();
}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept {
  if (this != &other) {
    Loader old(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Loader::~Loader() {
  // In a forked child there is nothing to join, and locks may be held by threads that are not there.
  if (impl_ != nullptr && impl_->pid != ::getpid()) static_cast<void>(impl_.release());
}

EpochRange Loader::epoch(StreamRef stream) & { return EpochRange(this, stream); }
void Loader::begin_epoch() { impl_->begin_epoch(); }
std::optional<Batch> Loader::next(StreamRef stream) { return impl_->next(stream); }
std::optional<std::vector<Batch>> Loader::next_parts(std::span<const StreamRef> streams) {
  return impl_->next_parts(streams);
}
State Loader::state() const { return impl_->state(); }
void Loader::resume(const State& state) { impl_->resume(state, {}); }
void Loader::save(const std::string& file) const {
  detail::save_state(impl_->state(), detail::facts_of(impl_->pipeline.data()).text(), file);
}
void Loader::resume(const std::string& file) {
  std::string text;
  const State state = detail::load_state(file, &text);
  try {
    impl_->resume(state, text);
  } catch (Error& error) {
    throw error.with_file(file);
  }
}
std::uint64_t Loader::epoch_number() const noexcept {
  return impl_->ended_by_error ? impl_->epoch + 1 : impl_->cursor.epoch;
}
void Loader::stop() noexcept { impl_->stop(); }
std::shared_ptr<detail::DeviceModel> Loader::device() const noexcept {
  return impl_->devices.empty() || impl_->devices[0]->is_host() ? nullptr : impl_->devices[0];
}
const Pipeline& Loader::pipeline() const noexcept { return impl_->pipeline; }
std::uint64_t Loader::steps_per_epoch() const { return impl_->pipeline.steps_per_epoch(); }

Report Loader::report() const {
  impl_->check_process();
  detail::DeliveryCounters counters;
  {
    const std::lock_guard lock(impl_->counters_mutex);
    counters = impl_->counters;
  }
  counters.p50_s = impl_->latency.quantile(0.5);
  counters.p99_s = impl_->latency.quantile(0.99);
  Report report = detail::make_report(*impl_->engine, counters, impl_->budget);
  impl_->delivery->describe(report);
  return report;
}

}  // namespace penstock
