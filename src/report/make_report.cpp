// SPDX-License-Identifier: Apache-2.0
#include "report/make_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core_time.hpp"
#include "base/cores.hpp"
#include "base/number_text.hpp"
#include "report/memory_purposes.hpp"
#include "report/run_notes.hpp"
#include "report/sample_times.hpp"
#include "report/verdict.hpp"

namespace penstock::detail::runtime {

namespace {

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

void fill_delivered(Report& r, const DeliveryCounters& c) {
  r.batches = c.batches;
  r.samples = c.samples;
  r.bytes = c.bytes;
  r.errors = c.acted;
  r.seconds = seconds_of(c.elapsed_ns);
  r.first_batch_s = seconds_of(c.first_batch_ns);
  r.next_p50_s = c.p50_s;
  r.next_p99_s = c.p99_s;
  r.caller_delay_share = c.caller_delay_share;
  if (r.seconds > 0) {
    r.samples_per_s = static_cast<double>(r.samples) / r.seconds;
    r.consumer_wait_share = seconds_of(c.next_ns) / r.seconds;
  }
}

// Returns the counts of a step's runs. A step runs once per sample, per shared record, or per record of a stream.
ChainCounts runs_of(const Chain& chain, const RunTotals& t, std::size_t step) {
  if (step >= chain.children_begin()) return t.samples;
  return step == 0 && chain.data().source->is_stream() ? t.reads : t.parents;
}

// Returns the work of one step. Estimates the work of all the step's runs from the runs that were measured. `kept`:
// number of samples over which the costs are divided.
StageReport stage_report(const Chain& chain, const Step& of, const RunTotals& t, std::size_t step, double kept) {
  const StepCounts& measured = t.steps[step];
  const bool in_branch = step >= chain.steps().size();
  const ChainCounts runs = runs_of(chain, t, in_branch ? 0 : step);
  const double each =
      static_cast<double>(runs.all) / static_cast<double>(std::max<std::uint64_t>(runs.measured_for, 1));
  StageReport s;
  s.name = of.label;
  s.samples = in_branch ? measured.runs : step < chain.cache_step() ? t.made : runs.all;
  s.bytes = static_cast<std::uint64_t>(static_cast<double>(measured.bytes) * each);
  s.cpu_us_per_sample = static_cast<double>(measured.cpu_ns) * each / kept * 1e-3;
  s.wait_us_per_sample = static_cast<double>(measured.wait_ns) * each / kept * 1e-3;
  return s;
}

// Adds the cost of loading blocks and of advice to the first step, which reads.
void add_loads(StageReport& reads, const StepCounts& loads, double kept) {
  reads.bytes += loads.bytes;
  reads.cpu_us_per_sample += static_cast<double>(loads.cpu_ns) / kept * 1e-3;
  reads.wait_us_per_sample += static_cast<double>(loads.wait_ns) / kept * 1e-3;
}

// Returns the share of loads in the CPU time of all stages; 0 if the CPU time is unknown.
double share_of_loads(const Report& r, const RunTotals& t) {
  const double kept = static_cast<double>(std::max<std::uint64_t>(t.kept, 1));
  return r.cpu_s_per_1000 > 0 ? static_cast<double>(t.loads.cpu_ns) / kept * 1e-6 / r.cpu_s_per_1000 : 0;
}

double cpu_us_of(const std::vector<StageReport>& stages) {
  double sum = 0;
  for (const StageReport& s : stages) sum += s.cpu_us_per_sample;
  return sum;
}

// Returns whether the host ran the device stages in place.
bool runs_in_place(const PipelineData& data, const RunTotals& t) {
  return t.batch_stages.size() > data.after_batch.maps.size();
}

std::vector<StageReport> stage_reports(const Chain& chain, const RunTotals& t) {
  // Costs are divided by the number of kept samples, because samples that filters leave out cost time too.
  const double kept = static_cast<double>(std::max<std::uint64_t>(t.kept, 1));
  std::vector<StageReport> stages;
  const std::vector<const Step*> steps = chain.all_steps();
  for (std::size_t i = 0; i < steps.size(); ++i) stages.push_back(stage_report(chain, *steps[i], t, i, kept));
  if (!stages.empty()) add_loads(stages.front(), t.loads, kept);
  const std::vector<BatchStages::Stage> on_batches = BatchStages::of(chain.data(), runs_in_place(chain.data(), t));
  for (std::size_t i = 0; i < on_batches.size(); ++i) {
    StageReport& s = stages.emplace_back();
    s.name = on_batches[i].label();
    s.samples = t.batch_stages[i].samples;
    s.cpu_us_per_sample = static_cast<double>(t.batch_stages[i].cpu_ns) / kept * 1e-3;
  }
  const double cpu_us = cpu_us_of(stages);
  for (StageReport& s : stages) s.share = cpu_us > 0 ? s.cpu_us_per_sample / cpu_us : 0;
  return stages;
}

// Returns the CPU time of the stages that the caller's thread runs.
double cpu_us_on_caller(const PipelineData& data, const RunTotals& t, const Report& r) {
  const std::vector<BatchStages::Stage> on_batches = BatchStages::of(data, runs_in_place(data, t));
  double sum = 0;
  for (std::size_t i = BatchStages::first_on_caller(on_batches); i < on_batches.size(); ++i)
    sum += r.stages[r.stages.size() - on_batches.size() + i].cpu_us_per_sample;
  return sum;
}

// Sets how fast the run could be, from the costs of its stages.
void fill_limit(Report& r, const RunTotals& t, const PipelineData& data) {
  const double cpu_us = cpu_us_of(r.stages), on_runners_s = (cpu_us - cpu_us_on_caller(data, t, r)) * 1e-6;
  r.cpu_s_per_1000 = cpu_us * 1e-3;
  r.limit_chains = t.measured;
  if (t.measured != 0 && on_runners_s > 0)
    r.limit_samples_per_s = std::min<double>(r.threads, core_time(r)) / on_runners_s;
  // Only one runner at a time reads a stream.
  if (data.source->is_stream() && r.stages[0].cpu_us_per_sample > 0)
    r.limit_samples_per_s = std::min(r.limit_samples_per_s, 1e6 / r.stages[0].cpu_us_per_sample);
}

// Sets the shares of time in which the runners waited, were idle, or were delayed.
void fill_runner_shares(Report& r, const RunTotals& t) {
  double wait_ns = static_cast<double>(t.loads.wait_ns);
  for (const StepCounts& s : t.steps) wait_ns += static_cast<double>(s.wait_ns);
  if (t.wall_ns != 0) r.runner_wait_share = wait_ns / static_cast<double>(t.wall_ns);
  if (r.seconds > 0) r.runner_idle_share = std::clamp(1 - seconds_of(t.busy_ns) / (r.seconds * r.threads), 0.0, 1.0);
  if (t.delay_measured_ns != 0)
    r.runner_delay_share = static_cast<double>(t.delay_ns) / static_cast<double>(t.delay_measured_ns);
}

// Returns how much of the runners' time each reason for idleness took. Leaves out reasons with less than 0.1 %.
std::vector<IdleShare> idle_shares(const IdleTime::Counts& counts) {
  std::vector<IdleShare> shares;
  for (std::size_t why = 0; why < IdleTime::reasons && counts.all_ns != 0; ++why)
    if (const double share = static_cast<double>(counts.idle_ns[why]) / static_cast<double>(counts.all_ns);
        share >= 0.001)
      shares.push_back({static_cast<Idle>(why), share});
  std::ranges::sort(shares, std::ranges::greater(), &IdleShare::share);
  return shares;
}

std::vector<WaitShare> wait_shares(const WaitProbe::Counts& counts) {
  std::vector<WaitShare> shares;
  for (std::size_t kind = 0; kind < wait_kinds; ++kind)
    if (counts.waits[kind] != 0)
      shares.push_back(
          {static_cast<Wait>(kind), static_cast<double>(counts.waits[kind]) / static_cast<double>(counts.looks)});
  std::ranges::sort(shares, std::ranges::greater(), &WaitShare::share);
  return shares;
}

// Sets the facts about cores, and returns notes about a quota. Under a quota, the core time of other processes does not
// matter, because these processes don't use up the quota.
std::vector<std::string> fill_cores(Report& r, const std::optional<CoreShares>& shares) {
  r.cores = usable_cores();
  const double quota = core_quota();
  if (shares) r.own_core_share = shares->own;
  if (quota == 0 || quota >= r.cores) {
    if (shares) r.other_core_share = shares->others;
    return {};
  }
  r.core_quota = quota;
  if (shares) r.own_core_share = std::min(1.0, shares->own * r.cores / quota);
  const unsigned usable = std::exchange(r.cores, static_cast<unsigned>(std::ceil(quota)));
  return {"a quota leaves this process " + shortest(quota) + " of the time of the " + std::to_string(usable) +
          " cores it may use"};
}

StreamTime stream_time(const TimedCounts& counts, const Report& r) {
  if (counts.timed == 0 || counts.stood_for == 0 || r.seconds <= 0) return {};
  const double us = static_cast<double>(counts.ns) * 1e-3 / static_cast<double>(counts.stood_for);
  return {counts.timed, us, std::min(1.0, us * 1e-6 * static_cast<double>(r.batches) / r.seconds)};
}

void fill_devices(Report& r, const DeliveryTimes& times) {
  if (times.devices.empty()) return;
  for (const DeviceCounts& d : times.devices)
    r.devices.push_back(
        {.name = d.name,
         .copies = stream_time(d.copies, r),
         .copy_bytes_per_s =
             d.copies.ns == 0 ? 0 : static_cast<double>(d.copies.bytes) * 1e9 / static_cast<double>(d.copies.ns),
         .stages = stream_time(d.stages, r),
         .buffer = stream_time(d.buffer, r),
         .starved = stream_time(d.starved, r)});
  const auto share = [&](std::uint64_t ns) { return r.seconds > 0 ? std::min(1.0, seconds_of(ns) / r.seconds) : 0; };
  const SendCounts& s = times.sending;
  r.sending = {share(s.batch_ns), share(s.buffer_ns), share(s.read_ns), share(s.call_ns)};
}

// Adds the time of pauses to the reason `caller`, because in a `write` a pause is a long commit by the storing thread.
std::vector<IdleShare> idle_shares_of_write(IdleTime::Counts counts) {
  counts.idle_ns[static_cast<std::size_t>(Idle::caller)] +=
      std::exchange(counts.idle_ns[static_cast<std::size_t>(Idle::pause)], 0);
  return idle_shares(counts);
}

// Sets what the stages did, and what runners waited for.
void fill_stages(Report& r, const Chain& chain, const RunTotals& t) {
  const SourceModel& source = *chain.data().source;
  r.threads = t.threads;
  r.threads_seen = t.threads_seen;
  r.copied_bytes = t.copied_bytes;
  r.stages = stage_reports(chain, t);
  fill_limit(r, t, chain.data());
  fill_runner_shares(r, t);
  r.idle = idle_shares(t.idle);
  r.waits = wait_shares(t.waits);
  r.wait_looks = t.waits.looks;
  fill_sample_times(r, source, t);
  // Stages of parts run before the stages of the whole.
  std::rotate(r.stages.begin(), r.stages.begin() + static_cast<std::ptrdiff_t>(chain.steps().size()),
              r.stages.begin() + static_cast<std::ptrdiff_t>(t.steps.size()));
  r.block_decodes = t.blocks.loads;
  r.block_uses = t.blocks.uses;
  r.block_decodes_saved = t.blocks.saved_by_double;
  r.block_decodes_again = t.blocks.again;
}

}  // namespace

Report make_write_report(const std::string& sink) {
  Report r;
  r.device = to_string(host());
  r.sink = sink;
  set_verdict(r);
  return r;
}

Report make_write_report(const Chain& chain, const RunTotals& t, const WriteCounts& c) {
  Report r = make_write_report(c.sink);
  r.notes = fill_cores(r, c.cores);
  r.samples = c.samples;
  r.bytes = c.bytes;
  r.errors = c.dropped;
  r.seconds = seconds_of(c.elapsed_ns);
  if (r.seconds > 0) {
    r.samples_per_s = static_cast<double>(r.samples) / r.seconds;
    r.consumer_wait_share = std::min(1.0, seconds_of(c.waited_ns) / r.seconds);
    r.commit_share = std::min(1.0, seconds_of(c.commit_ns) / r.seconds);
  }
  fill_stages(r, chain, t);
  r.fetched = fetch_report(c.fetched);
  r.threads_wanted = t.threads;
  r.idle = idle_shares_of_write(t.idle);
  set_verdict(r, t.joined != 0, share_of_loads(r, t));
  return r;
}

Report make_report(const Engine& engine, const Delivery& delivery, const CountsSoFar& run) {
  const RunTotals& t = run.totals;
  const DeliveryCounters& c = run.delivered;
  Report r;
  // If there are fewer runners than the plan has, tuning chose the number. Then no more runners are wanted.
  r.threads_wanted = t.threads < engine.setup().plan.threads ? t.threads : engine.setup().plan.wanted_threads;
  r.notes = fill_cores(r, c.cores);
  fill_delivered(r, c);
  fill_stages(r, engine.chain(), t);
  fill_devices(r, run.times);
  r.fetched = fetch_report(run.fetched);
  r.batch_allocations = engine.ring().allocations();
  r.memory = memory_purposes(engine, t);
  const double loads = share_of_loads(r, t);
  for (std::string& note : run_notes(engine, t, c, loads)) r.notes.push_back(std::move(note));
  delivery.describe(r);
  set_verdict(r, t.joined != 0, loads);
  return r;
}

}  // namespace penstock::detail::runtime
