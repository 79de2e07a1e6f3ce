// SPDX-License-Identifier: Apache-2.0
#include "loader/loader_counts.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/pipeline_data.hpp"
#include "report/last_seconds.hpp"
#include "report/make_report.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

namespace {

constexpr std::chrono::seconds mark_every{5};

std::uint64_t to_ns(std::chrono::steady_clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}
std::uint64_t to_ns(std::chrono::steady_clock::time_point time) { return to_ns(time.time_since_epoch()); }

}  // namespace

LoaderCounts::LoaderCounts(const Engine& engine, const Delivery& delivery) : engine_(engine), delivery_(delivery) {
  const PipelineData& data = engine.data();
  if (!data.device) return;
  const Schema& delivered = data.delivered();
  const Schema& staged = data.schema;
  delivered_row_bytes_ = RowLayout(delivered).row_bytes();
  for (std::size_t f = 0; f < staged.size(); ++f)
    if (engine.ring().layout().row()[f].appended() && delivered.find(staged[f].name)) delivered_appended_.push_back(f);
}

void LoaderCounts::begin_call(Clock::time_point now) noexcept {
  if (first_call_ == Clock::time_point{}) {
    first_call_ = now;
    const std::optional<CoreTime> read = read_core_time();
    FetchedSoFar fetched = this->fetched();
    const std::lock_guard lock(mutex_);
    cores_first_ = read;
    fetched_first_ = std::move(fetched);
  }
  if (const std::thread::id thread = std::this_thread::get_id(); thread != caller_thread_) {
    caller_thread_ = thread;
    caller_.begin(to_ns(now));
  } else {
    caller_.tick(to_ns(now));
  }
}

LoaderCounts::Clock::time_point LoaderCounts::deliver(const BatchInfo& batch, Clock::time_point begun,
                                                      const BadSampleLedger& ledger) noexcept {
  const Clock::time_point now = Clock::now();
  const std::uint64_t ns = to_ns(now - begun);
  latency_.record(ns);
  const BatchLayout& layout = engine_.ring().layout();
  std::uint64_t bytes = engine_.data().device ? batch.rows * delivered_row_bytes_ : layout.bytes_of(batch);
  for (const std::size_t field : delivered_appended_) bytes += layout.appended_bytes_of(batch, field);
  caller_.tick(to_ns(now));
  const bool fetch_due = !fetched_first_.counts.empty() && to_ns(now) - fetched_last_.at_ns >= 20'000'000;
  FetchedSoFar fetched = fetch_due ? this->fetched() : FetchedSoFar();
  const std::lock_guard lock(mutex_);
  if (fetch_due) fetched_last_ = std::move(fetched);
  counters_.batches += 1;
  counters_.samples += batch.valid;
  counters_.bytes += bytes;
  counters_.next_ns += ns;
  if (counters_.batches == 1) counters_.first_batch_ns = ns;
  counters_.elapsed_ns = to_ns(now - first_call_);
  counters_.acted = ledger.acted_here();
  return now;
}

CountsSoFar LoaderCounts::mark() const {
  CountsSoFar mark{engine_.totals(), {}, delivery_.times(), read_core_time(), fetched()};
  const std::lock_guard lock(mutex_);
  mark.delivered = counters_;
  return mark;
}

// Without memory, the counts are left out.
FetchedSoFar LoaderCounts::fetched() const noexcept {
  try {
    return {engine_.data().source->fetched(), to_ns(Clock::now())};
  } catch (...) {
    return {};
  }
}

// Keeps two marks. A report compares the whole run with the time since the older mark. The older mark is at least a few
// seconds old.
void LoaderCounts::mark_if_due(Clock::time_point now) noexcept {
  if (now - marked_ < mark_every) return;
  marked_ = now;
  try {
    CountsSoFar made = mark();
    const std::lock_guard lock(mutex_);
    lately_ = std::exchange(latest_, std::move(made));
  } catch (...) {  // no memory: this mark is left out
  }
}

void LoaderCounts::begin_anew() {
  CountsSoFar begin = mark();
  latency_.clear();
  const std::lock_guard lock(mutex_);
  begin_ = std::move(begin);
  lately_.reset();
  latest_.reset();
}

// Reads the cores' times here, because a report may be made much later. If epochs are short, reads them only at the
// ends of some epochs.
void LoaderCounts::end_epoch(Clock::time_point now) noexcept {
  if (!fetched_first_.counts.empty()) {
    FetchedSoFar fetched = this->fetched();
    const std::lock_guard lock(mutex_);
    fetched_last_ = std::move(fetched);
  }
  if (!cores_first_) return;
  const std::uint64_t first = cores_first_->at, ns = to_ns(now);
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t last = cores_last_ ? cores_last_->at : first;
    if (ns - first < 2 * (last - first) || ns - last < 10'000'000) return;
  }
  const std::optional<CoreTime> read = read_core_time();
  const std::lock_guard lock(mutex_);
  cores_last_ = read;
}

void LoaderCounts::note_messages(const BadSampleLedger& ledger) {
  if (ledger.messages().size() == counters_.messages.size()) return;
  const std::lock_guard lock(mutex_);
  counters_.messages = ledger.messages();
}

void LoaderCounts::note_end(const BadSampleLedger& ledger, bool empty) noexcept {
  const std::lock_guard lock(mutex_);
  counters_.acted = ledger.acted_here();
  if (empty) ++counters_.empty_epochs;
}

void LoaderCounts::note_beyond(std::uint64_t epochs) noexcept {
  const std::lock_guard lock(mutex_);
  counters_.beyond_epochs = epochs;
}

Report LoaderCounts::report() const {
  CountsSoFar now;
  std::optional<CountsSoFar> begin, lately;
  std::optional<CoreTime> first;
  FetchedSoFar fetched_first;
  {
    const std::lock_guard lock(mutex_);
    now.delivered = counters_;
    now.cores = cores_last_;
    now.fetched = fetched_last_;
    fetched_first = fetched_first_;
    first = cores_first_;
    begin = begin_;
    lately = lately_;
  }
  now.totals = engine_.totals();
  now.times = delivery_.times();
  now.delivered.p50_s = latency_.quantile(0.5);
  now.delivered.p99_s = latency_.quantile(0.99);
  if (caller_.measured_ns() != 0)
    now.delivered.caller_delay_share =
        static_cast<double>(caller_.delay_ns()) / static_cast<double>(caller_.measured_ns());
  if (now.delivered.batches != 0 && first) {
    // Uses the cores' times of this moment only if the last batch was delivered a short time ago.
    const std::uint64_t elapsed = now.delivered.elapsed_ns, end = first->at + elapsed;
    if (const auto read = read_core_time();
        read && read->at - std::min(read->at, end) <= std::max<std::uint64_t>(elapsed / 10, 50'000'000))
      now.cores = read;
    if (now.cores) now.delivered.cores = core_shares(*first, *now.cores);
  }
  CountsSoFar whole = begin ? since(now, *begin) : now;
  if (!begin) whole.fetched = since(whole.fetched, fetched_first);
  Report report = make_report(engine_, delivery_, whole);
  if (lately) report.lately = note_on_last_seconds(report, make_report(engine_, delivery_, since(now, *lately)));
  return report;
}

}  // namespace penstock::detail::runtime
