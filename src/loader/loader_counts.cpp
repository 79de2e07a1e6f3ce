#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/failure.hpp"
#include "loader/loader_impl.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/pipeline_data.hpp"
#include "report/lately.hpp"
#include "report/make_report.hpp"
#include "ring/batch_layout.hpp"

// What a loader counts as batches are delivered, and the report of it.
namespace penstock {

namespace {

std::uint64_t to_ns(std::chrono::steady_clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}
std::uint64_t to_ns(std::chrono::steady_clock::time_point time) { return to_ns(time.time_since_epoch()); }

}  // namespace

void Loader::Impl::count_delivered_fields() {
  const Schema& delivered = pipeline_.data().delivered();
  const Schema& staged = pipeline_.data().schema;
  delivered_row_bytes_ = detail::RowLayout(delivered).row_bytes();
  for (std::size_t f = 0; f < staged.size(); ++f) {
    if (engine_->ring().layout().row()[f].appended() && delivered.find(staged[f].name))
      delivered_appended_.push_back(f);
  }
}

void Loader::Impl::account(detail::SampleTally& tally) {
  if (tally.unreported) throw detail::no_memory();
  ledger_.account(tally.bad, samples_, tally.unlisted);
  if (!tally.bad.empty() && (!first_bad_ || first_bad_of_ != epoch_)) {
    first_bad_ = tally.bad.front().error;
    first_bad_of_ = epoch_;
  }
  if (ledger_.messages().size() == counters_.messages.size()) return;
  const std::lock_guard lock(counters_mutex_);
  counters_.messages = ledger_.messages();
}

// False: there was a stop, and how the epoch ends is not known.
bool Loader::Impl::account_end() {
  std::optional<detail::EpochEnd> end = delivery_->take_epoch_end(epoch_);
  if (!end) return false;
  // After a batch that held the pass's last sample the cursor is where the next epoch begins.
  const bool no_batch = cursor_.epoch == epoch_ && cursor_.number == 0 && cursor_.position == 0 && cursor_.child == 0;
  const detail::PolicyLedger before = ledger_;
  account(*end);
  const std::uint64_t bad = end->bad.size() + end->unlisted;
  made_.good = made_.good || end->samples > bad;
  made_.bad += bad;
  try {
    refuse_lost_epoch();
  } catch (...) {
    if (pipeline_.data().policy_value().policy == OnError::drop) ledger_ = before;  // the epoch may be tried again
    throw;
  }
  samples_ += end->samples;
  const std::lock_guard lock(counters_mutex_);
  counters_.acted = ledger_.acted_here();
  if (no_batch) ++counters_.empty_epochs;
  return true;
}

// What a bucket window tells of, it tells with its first batch: rows say which are bad.
void Loader::Impl::note_rows(const detail::BatchInfo& batch) noexcept {
  if (made_.good) return;
  const auto masks = std::span(batch.mask).first(static_cast<std::size_t>(batch.valid));
  made_.good = std::ranges::find(masks, 1) != masks.end();
  made_.bad += masks.size();
}

// Nothing can be learnt of an epoch in which whatever was made failed, and nobody may look at masks. A stand-in did not
// fail.
void Loader::Impl::refuse_lost_epoch() {
  const OnError policy = pipeline_.data().policy_value().policy;
  const bool drops = policy == OnError::drop;
  if (!made_.whole || made_.good || made_.bad == 0 || (!drops && policy != OnError::mask)) return;
  if (!drops) cursor_ = beginning_of(epoch_ + 1);  // its batches were delivered
  in_epoch_ = false;
  ended_by_error_ = true;
  const std::string cause = (drops ? "no batch came: all " : "no row is good: all ") + std::to_string(made_.bad) +
                            " samples of epoch " + std::to_string(epoch_) + " were bad, and on_error " +
                            (drops ? "drops" : "masks") + " them";
  if (!first_bad_ || first_bad_of_ != epoch_) throw Error(Errc::quota_exceeded, cause);
  throw detail::error_at(*first_bad_, Errc::quota_exceeded, cause + "; the first one: " + first_bad_->cause());
}

Loader::Impl::Clock::time_point Loader::Impl::count(const detail::BatchInfo& batch, Clock::time_point begun) noexcept {
  const Clock::time_point now = Clock::now();
  const std::uint64_t ns = to_ns(now - begun);
  latency_.record(ns);
  const detail::BatchLayout& layout = engine_->ring().layout();
  std::uint64_t bytes = pipeline_.data().device ? batch.rows * delivered_row_bytes_ : layout.bytes_of(batch);
  for (const std::size_t field : delivered_appended_) bytes += layout.appended_bytes_of(batch, field);
  caller_.tick(to_ns(now));
  const std::lock_guard lock(counters_mutex_);
  counters_.batches += 1;
  counters_.samples += batch.valid;
  counters_.bytes += bytes;
  counters_.next_ns += ns;
  if (counters_.batches == 1) counters_.first_batch_ns = ns;
  counters_.elapsed_ns = to_ns(now - first_call_);
  counters_.acted = ledger_.acted_here();
  return now;
}

void Loader::Impl::tune(std::uint64_t samples, Clock::time_point begun, Clock::time_point now) noexcept {
  using Next = detail::Tuning::Next;
  try {
    const Next next = tuning_->delivered(to_ns(begun), to_ns(now), samples);
    if (next == Next::done) tuned_ = true;
    if (next == Next::done || next == Next::go_on) return;
    if (next == Next::begin_anew) begins_anew_ = true;
    detail::RunMark begin = mark_now();
    latency_.clear();
    const std::lock_guard lock(counters_mutex_);
    begin_ = std::move(begin);
    lately_.reset();
    latest_.reset();
  } catch (...) {  // no memory: all stays as it is now
    tuned_ = true;
  }
}

detail::RunMark Loader::Impl::mark_now() const {
  detail::RunMark mark{engine_->totals(), {}, delivery_->times(), detail::read_core_time()};
  const std::lock_guard lock(counters_mutex_);
  mark.delivered = counters_;
  return mark;
}

// A report compares the whole with what came after the mark before the last one: some seconds at least.
void Loader::Impl::mark(Clock::time_point now) noexcept {
  marked_ = now;
  try {
    detail::RunMark mark = mark_now();
    const std::lock_guard lock(counters_mutex_);
    lately_ = std::exchange(latest_, std::move(mark));
  } catch (...) {  // no memory: without it
  }
}

// A call of next() begins.
void Loader::Impl::note_caller(Clock::time_point now) noexcept {
  if (first_call_ == Clock::time_point{}) {
    first_call_ = now;
    const std::optional<detail::CoreTime> read = detail::read_core_time();
    const std::lock_guard lock(counters_mutex_);
    cores_first_ = read;
  }
  if (const std::thread::id thread = std::this_thread::get_id(); thread != caller_thread_) {
    caller_thread_ = thread;
    caller_.begin(to_ns(now));
  } else {
    caller_.tick(to_ns(now));
  }
}

// The epoch is over: a report may be asked for much later. Of many short epochs few are worth asking the system.
void Loader::Impl::note_cores(Clock::time_point now) noexcept {
  if (!cores_first_) return;
  const std::uint64_t first = cores_first_->at, ns = to_ns(now);
  {
    const std::lock_guard lock(counters_mutex_);
    const std::uint64_t last = cores_last_ ? cores_last_->at : first;
    if (ns - first < 2 * (last - first) || ns - last < 10'000'000) return;
  }
  const std::optional<detail::CoreTime> read = detail::read_core_time();
  const std::lock_guard lock(counters_mutex_);
  cores_last_ = read;
}

void Loader::Impl::write_trace(const std::string& file) const {
  check_process();
  const detail::Trace* const trace = engine_->setup().trace.get();
  if (trace == nullptr)
    throw Error(Errc::invalid_argument,
                "this loader keeps no timeline: say with `LoaderOptions::trace` how many slices of each line it keeps");
  trace->write(file);
}

Report Loader::Impl::report() const {
  check_process();
  detail::RunMark now;
  std::optional<detail::RunMark> begin, lately;
  std::optional<detail::CoreTime> first;
  {
    const std::lock_guard lock(counters_mutex_);
    now.delivered = counters_;
    now.cores = cores_last_;
    first = cores_first_;
    begin = begin_;
    lately = lately_;
  }
  now.totals = engine_->totals();
  now.times = delivery_->times();
  now.delivered.p50_s = latency_.quantile(0.5);
  now.delivered.p99_s = latency_.quantile(0.99);
  if (caller_.measured_ns() != 0)
    now.delivered.caller_delay_share =
        static_cast<double>(caller_.delay_ns()) / static_cast<double>(caller_.measured_ns());
  if (now.delivered.batches != 0 && first) {
    // What came long after the last batch is no part of the run.
    const std::uint64_t elapsed = now.delivered.elapsed_ns, end = first->at + elapsed;
    if (const auto read = detail::read_core_time();
        read && read->at - std::min(read->at, end) <= std::max<std::uint64_t>(elapsed / 10, 50'000'000))
      now.cores = read;
    if (now.cores) now.delivered.cores = detail::core_shares(*first, *now.cores);
  }
  Report report = detail::make_report(*engine_, *delivery_, begin ? since(now, *begin) : now);
  if (lately)
    report.lately = detail::what_changed(report, detail::make_report(*engine_, *delivery_, since(now, *lately)));
  if (tuning_ != nullptr) report.tuning = tuning_->report();
  return report;
}

}  // namespace penstock
