// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <penstock/device.hpp>

#include "report/network_words.hpp"
#include "report/next_cause.hpp"
#include "report/number_words.hpp"
#include "report/sample_times.hpp"
#include "report/verdict.hpp"

// Makes the verdict and the notes of a report from its numbers.
namespace penstock::detail::runtime {

namespace {

// Smaller shares occur in every run.
constexpr double min_delay = 0.1, min_others = 0.1, min_idle = 0.15;
// Shorter runs consist mostly of their beginning.
constexpr double long_enough_s = 0.2;

std::string cores_of(const Report& r) {
  return r.cores == 1 ? "the core" : "the " + std::to_string(r.cores) + " cores";
}

bool others_are_there(const Report& r) { return r.other_core_share.value_or(0) >= min_others; }

// Describes how long `who` waited for a core and, if known, who had the cores. Empty if `share` is small or unknown.
std::string delay_words(const Report& r, const std::string& who, const std::optional<double>& share) {
  if (share.value_or(0) < min_delay) return "";
  const std::string waited = " " + who + " waited " + percent(*share) + " of the time for a core";
  if (others_are_there(r))
    return waited + "; other processes had " + percent(*r.other_core_share) + " of " + cores_of(r) + ".";
  if (r.other_core_share && r.own_core_share.value_or(0) >= 0.8)
    return waited + ", which other threads of this process had.";
  return waited + ".";
}

// Returns whether the run would be clearly faster without other processes, because they used the cores for which
// runners waited.
bool others_hold_up(const Report& r) {
  if (r.runner_delay_share.value_or(0) < min_delay || !others_are_there(r) || !r.own_core_share) return false;
  const double waiting = *r.runner_delay_share * (1 - r.runner_idle_share) * r.threads_seen / r.cores;
  return std::min(waiting, *r.other_core_share) >= 0.15 * *r.own_core_share;
}

double idle_share(const Report& r, Idle why) {
  const auto found = std::ranges::find(r.idle, why, &IdleShare::why);
  return found == r.idle.end() ? 0 : found->share;
}

// Returns the bound of a run whose runners are idle for this reason. Returns none if the runners wait for the caller or
// for a thread of the executor.
std::optional<Bound> bound_of(Idle why) {
  switch (why) {
    case Idle::straggler:
      return Bound::stragglers;
    case Idle::buffers:
    case Idle::leases:
      return Bound::buffers;
    case Idle::entries:
      return Bound::entries;
    case Idle::blocks:
    case Idle::block_memory:
      return Bound::blocks;
    case Idle::stream:
      return Bound::stream;
    case Idle::order:
      return Bound::order;
    case Idle::caller:
    case Idle::pause:
    case Idle::threads:
      return std::nullopt;
  }
  return std::nullopt;
}

bool on_device(const Report& r) { return !r.device.empty() && r.device != to_string(host()); }

// Returns the share of the runners' time in which finished batches waited for the device or the copy to it. Returns 0
// if batches stay on the host.
double device_share(const Report& r) {
  return on_device(r) ? idle_share(r, Idle::caller) + idle_share(r, Idle::leases) : 0;
}

// Returns the reason for which runners were idle longest, and its share. Leaves out `caller`, `pause` and `threads`.
// Exception: if runners and caller wait for each other in turns, `caller` counts as `buffers`, because more batches
// would even that out. With a device, `caller` and `leases` never count, because runners and caller may both have
// waited for the device.
IdleShare worst_idleness(const Report& r) {
  IdleShare worst{Idle::caller, 0};
  for (const IdleShare& i : r.idle) {
    if (on_device(r) && (i.why == Idle::caller || i.why == Idle::leases)) continue;
    const bool by_turns = i.why == Idle::caller && r.consumer_wait_share >= 0.2;
    if (!by_turns && !bound_of(i.why)) continue;
    if (i.share > worst.share) worst = {by_turns ? Idle::buffers : i.why, i.share};
  }
  return worst;
}

// Returns the rate that the run could have without this idleness, limited by the cost of the stages. If the reason is a
// stream, the stream's own limit is left out, because the advice is to make the stream faster.
double rate_without(const Report& r, const IdleShare& idle) {
  const double limit = idle.why == Idle::stream && r.cpu_s_per_1000 > 0
                           ? std::min<double>(r.threads, core_time(r)) * 1000 / r.cpu_s_per_1000
                           : r.limit_samples_per_s;
  return std::max(std::min(r.samples_per_s / std::max(1 - idle.share, 0.01), limit), r.samples_per_s);
}

// Returns whether the stage is a reading, of the source or of a part of a join.
bool reads(const StageReport& stage) { return stage.name == "read" || stage.name.starts_with("read of "); }

// Returns the options that make room for more samples in work.
const char* more_room(const Report& r) { return r.sink.empty() ? "`depth`" : "`max_in_flight` or `max_waiting_bytes`"; }

std::string idle_words(const Report& r, const IdleShare& idle) {
  const std::string share = percent(idle.share) + " of their time";
  const std::string gain = " would give up to about " + number(rate_without(r, idle), 0) +
                           " samples/s in the place of " + number(r.samples_per_s, 0) + ".";
  if (!r.sink.empty() && (idle.why == Idle::buffers || idle.why == Idle::leases))
    return "Samples in work bound the run: runners had none to begin for " + share +
           ", while the thread that stores waited " + percent(r.consumer_wait_share) + " of the time. A larger " +
           more_room(r) + gain;
  switch (idle.why) {
    case Idle::straggler:
      return "Single slow samples bound the run: runners waited " + share + " for one of them, with " +
             (r.sink.empty() ? "the batches" : "samples") + " after it ready. Evener samples or a larger " +
             more_room(r) + gain;
    case Idle::leases:
      return "Too few batches bound the run: for " + share +
             " runners had none to write to, as all were held by the caller or on their way to a device. A larger "
             "`depth` or letting batches go earlier" +
             gain;
    case Idle::entries:
      return "The reorder buffer bounds the run: runners waited " + share +
             " because every sample in work waited for an older one. Evener samples or, where no records are shared by "
             "several samples or read from a stream, a larger " +
             (r.sink.empty() ? "`max_reorder_bytes`" : more_room(r)) + gain;
    case Idle::blocks:
      return "Loading blocks bounds the run: runners waited " + share +
             " for blocks that others loaded. Smaller blocks or more of them in sight (by a larger " +
             (r.sink.empty() ? "batch or `depth`" : more_room(r)) + ")" + gain;
    case Idle::block_memory:
      return "The memory for blocks bounds the run: runners waited " + share +
             " for room for the next one. A larger `max_block_bytes` or an order that asks for fewer at a time" + gain;
    case Idle::stream:
      return "Reading the stream bounds the run: one runner reads it at a time, and the others waited " + share +
             " for it. Less work where it is read, or several streams interleaved," + gain;
    case Idle::order:
      return "The order bounds the run: runners waited " + share +
             " until it was known which records come next, and what blocks they need. A cheaper order" + gain;
    default:
      return "Too few batches bound the run: runners had none to write to for " + share + ", while the caller waited " +
             percent(r.consumer_wait_share) + " of the time. A larger `depth`" + gain;
  }
}

// Describes what one more thread would do.
std::string another_thread(const Report& r) {
  const std::string words =
      " Another thread would add about " + number(r.limit_samples_per_s / r.threads, 0) + " samples/s";
  if (!r.own_core_share || (!r.other_core_share && r.core_quota == 0)) return words + ", where a core is free for it.";
  const double free = (1 - *r.own_core_share - r.other_core_share.value_or(0)) * core_time(r);
  return free >= 0.7 ? words + "." : " No core was free for another thread.";
}

struct Judgement {
  Bound bound;
  std::string verdict;
  MentionedCauses told = {};
};

// The rates that verdicts mention. The limit is an estimate, which a run may exceed.
struct Rates {
  explicit Rates(const Report& r)
      : of_limit(r.samples_per_s / r.limit_samples_per_s),
        rate(number(r.samples_per_s, 0) + " samples/s"),
        limit(number(r.limit_samples_per_s, 0)),
        reached(of_limit > 1 ? "all" : percent(of_limit)) {}
  double of_limit;
  std::string rate, limit, reached;
};

std::string threads_of(const Report& r) {
  return std::to_string(r.threads) + (r.threads == 1 ? " thread" : " threads");
}

// Makes the verdict if the storing thread of a `write` hardly waits for samples.
Judgement by_sink(const Report& r, const Rates& rates) {
  constexpr double long_commits = 0.2;
  const std::string commits =
      r.commit_share < long_commits
          ? ""
          : " Commits had " + percent(r.commit_share) +
                " of its time: fewer of them (a larger `commit_every` and `commit_bytes`), or a sink that does not "
                "wait for the disk, would help.";
  const std::string delay = delay_words(r, "Runners", r.runner_delay_share);
  return {Bound::sink,
          "Storing bounds the run: the thread that puts samples into " + r.sink + " waited for them " +
              percent(r.consumer_wait_share) + " of the time and stored " + rates.rate +
              "; the stages could make about " + rates.limit + "." + commits + delay,
          {.delay = !delay.empty()}};
}

Judgement by_caller(const Report& r, const Rates& rates) {
  if (!r.sink.empty()) return by_sink(r, rates);
  const std::string caller = delay_words(r, "It", r.caller_delay_share),
                    runners = caller.empty() ? delay_words(r, "Runners", r.runner_delay_share) : "";
  return {Bound::consumer,
          "The caller bounds the run: it took " + rates.rate + " and waited for batches " +
              percent(r.consumer_wait_share) + " of the time; the loader could make about " + rates.limit + "." +
              caller + runners,
          {.delay = !runners.empty()}};
}

// Names the stage that takes most of the run's CPU time; empty if no stage takes most of it.
std::string own_work_words(const Report& r) {
  constexpr double mostly = 0.5;
  const auto costliest = std::ranges::max_element(r.stages, {}, &StageReport::share);
  if (costliest == r.stages.end() || costliest->share < mostly) return "";
  return " Of the CPU time of this run " + costliest->name + " takes " + percent(costliest->share) +
         ": a cheaper one would help as well.";
}

Judgement by_other_processes(const Report& r, const Rates& rates) {
  return {Bound::other_processes,
          "Other processes bound the run: they had " + percent(*r.other_core_share) + " of " + cores_of(r) +
              ", and runners waited " + percent(*r.runner_delay_share) + " of their time for one; " + rates.rate +
              " is " + rates.reached + " of what " + threads_of(r) +
              " can do. Fewer of them, or cores that they leave alone, would help." + own_work_words(r)};
}

// With fewer timed batches, times prove too little.
constexpr std::uint64_t enough_timed = 4;
double busy_share(const DeviceReport& d) { return std::max(d.copies.share, d.stages.share); }

// Makes the verdict if batches found no buffer on a device. The device's streams show the reason: the caller's stream
// hardly ever waits for a batch, or copies or stages take most of the time. Returns none if the streams don't show it.
std::optional<Judgement> by_streams(const Report& r, const Rates& rates) {
  constexpr double never = 0.1, mostly = 0.5;
  const auto looked = [](const DeviceReport& d) { return d.starved.timed >= enough_timed; };
  const auto starves = [](const DeviceReport& d) { return d.starved.timed == 0 || d.starved.share >= never; };
  const std::string took = " It took " + rates.rate + "; the loader could make about " + rates.limit + ".";
  if (!r.devices.empty() && std::ranges::all_of(r.devices, looked) && std::ranges::none_of(r.devices, starves)) {
    const DeviceReport& d =
        *std::ranges::min_element(r.devices, {}, [](const DeviceReport& o) { return o.starved.share; });
    return Judgement{Bound::consumer, "The caller's work on " + d.name + " bounds the run: its stream waited for " +
                                          "batches " + percent(d.starved.share) +
                                          " of the time, and batches waited for a buffer there." + took};
  }
  const DeviceReport* busiest = nullptr;
  for (const DeviceReport& d : r.devices)
    if (starves(d) && d.copies.timed >= enough_timed && busy_share(d) >= mostly &&
        (busiest == nullptr || busy_share(d) > busy_share(*busiest)))
      busiest = &d;
  if (busiest == nullptr) return std::nullopt;
  const DeviceReport& d = *busiest;
  const std::string of_caller =
      d.starved.timed == 0 ? ""
                           : "; the caller's stream waited for batches " + percent(d.starved.share) + " of the time";
  if (d.stages.share > d.copies.share)
    return Judgement{Bound::device, "The stages on " + d.name + " bound the run: they take " +
                                        number(d.stages.us * 1e-3, 2) + " ms a batch, " + percent(d.stages.share) +
                                        " of the time" + of_caller + "." + took +
                                        " Fewer or cheaper stages after `batch` would help."};
  return Judgement{Bound::copies,
                   "Copies to " + d.name + " bound the run: they take " + number(d.copies.us * 1e-3, 2) +
                       " ms a batch, " + percent(d.copies.share) + " of the time, at " +
                       number(d.copy_bytes_per_s * 1e-9, 2) + " GB/s" + of_caller + "." + took +
                       " Fewer bytes a sample would help: smaller types, or stages that enlarge it after `batch`."};
}

Judgement by_device(const Report& r, const Rates& rates) {
  if (std::optional<Judgement> known = by_streams(r, rates)) return *known;
  return {
      Bound::device,
      "The device bounds the run: for " + percent(device_share(r)) +
          " of the time batches were made and found no buffer there, as it was copying, or working on, those before "
          "them; the caller waited " +
          percent(r.consumer_wait_share) + " of the time. It took " + rates.rate + "; the loader could make about " +
          rates.limit + "."};
}

// Names the file whose records take much longer to read than other files' records. Empty if no file stands out.
std::string slow_file_words(const Report& r) {
  const FileReport* const slow = slow_file(r);
  if (slow == nullptr) return "";
  return " One file stands out: reading from " + slow->name + " takes " + number(slow->read_us * 1e-3, 2) +
         (slow->of_blocks ? " ms a block, and " : " ms a record, and ") + percent(slow->share) + " of all reading.";
}

// Returns what waiting runners mostly wait for, and its share of the waiting. The share is 0 if the run looked at too
// few busy runners, or if none of them waited.
WaitShare main_wait(const Report& r) {
  constexpr std::uint64_t enough = 10;
  double all = 0;
  for (const WaitShare& wait : r.waits) all += wait.share;
  if (r.wait_looks < enough || all <= 0) return {Wait::other, 0};
  return {r.waits.front().what, r.waits.front().share / all};
}

std::string main_wait_words(const WaitShare& wait) {
  constexpr double mostly = 0.5;
  if (wait.share < mostly) return "";
  switch (wait.what) {
    case Wait::lock:
      return percent(wait.share) + " of it for each other (a lock, or another thread); ";
    case Wait::sleep:
      return percent(wait.share) + " of it asleep; ";
    case Wait::read:
      return percent(wait.share) + " of it in system calls that read; ";
    case Wait::page:
      return percent(wait.share) + " of it for pages of mapped files; ";
    case Wait::network:
      return percent(wait.share) + " of it for sockets; ";
    case Wait::other:
      break;
  }
  return "";
}

// Says if most blocks are fetched several times in an epoch.
std::string fetched_again_words(const Report& r) {
  constexpr double least = 0.2;
  const double again =
      r.block_decodes == 0 ? 0 : static_cast<double>(r.block_decodes_again) / static_cast<double>(r.block_decodes);
  if (again < least) return "";
  return " " + percent(again) +
         " of the blocks were fetched again in the same epoch, for lack of memory: a larger `max_block_bytes`, or "
         "`shuffle({.blocks = true})` of fewer blocks at a time, would fetch less.";
}

Judgement by_network(const Report& r, const Rates& rates, const std::string& waited) {
  const std::string delay = delay_words(r, "Runners", r.runner_delay_share);
  return {Bound::network,
          "The network bounds the run: " + waited + ". It gives " + rates.rate + ", the CPU could do " + rates.limit +
              "." + fetched_again_words(r) + network_words(r) + delay,
          {.delay = !delay.empty()}};
}

// Makes the verdict if runners spend a large part of their working time waiting, in the source or in a stage.
Judgement by_waiting(const Report& r, const Rates& rates) {
  constexpr double lock_share = 0.6;
  const WaitShare wait = main_wait(r);
  const auto waits = std::ranges::max_element(r.stages, {}, &StageReport::wait_us_per_sample);
  const std::string spent = percent(r.runner_wait_share) + " of their time waiting, not computing; " +
                            main_wait_words(wait),
                    threads = r.threads_wanted > r.threads
                                  ? "a larger `max_memory_bytes` for more threads"
                                  : "more threads than the " + std::to_string(r.threads) + " there are",
                    delay = delay_words(r, "They", r.runner_delay_share);
  if (wait.what == Wait::lock && wait.share >= lock_share)
    return {Bound::lock,
            "A lock in " + waits->name + " bounds the run: runners spent " + spent + "that gives " + rates.rate +
                ", the CPU could do " + rates.limit + ". Less work under it would help, more threads would not." +
                delay,
            {.delay = !delay.empty()}};
  if (reads(*waits) && network_waits(r))
    return by_network(r, rates, "runners spent " + percent(r.runner_wait_share) + " of their time waiting for it");
  if (reads(*waits))
    return {Bound::storage,
            "The storage bounds the run: runners spent " + spent + "it gives " + rates.rate + ", the CPU could do " +
                rates.limit + ". Faster storage, " + threads + ", or a warm cache would help." + slow_file_words(r) +
                delay,
            {.delay = !delay.empty()}};
  return {Bound::waiting,
          "Waiting in " + waits->name + " bounds the run: runners spent " + spent + "that gives " + rates.rate +
              ", the CPU could do " + rates.limit + ". Less waiting there, or " + threads + ", would help." + delay,
          {.delay = !delay.empty()}};
}

Judgement by_cores(const Report& r, const Rates& rates) {
  return {Bound::cores, "The cores bound the run: " + std::to_string(r.threads) + " threads share " +
                            std::to_string(r.cores) + (r.cores == 1 ? " core" : " cores") + " and give " + rates.rate +
                            ", " + rates.reached + " of what they can do." +
                            (others_are_there(r) ? delay_words(r, "They", r.runner_delay_share) : "") +
                            own_work_words(r)};
}

Judgement by_memory(const Report& r, const Rates& rates) {
  return {Bound::memory, "The memory limit bounds the run: it leaves room for " + std::to_string(r.threads) + " of " +
                             std::to_string(r.threads_wanted) + " threads, and " + rates.rate + " is " + rates.reached +
                             " of what they can do. Smaller samples, or a larger `max_memory_bytes`, would help." +
                             another_thread(r)};
}

// Advises more memory for blocks, if this would save a large share of the CPU time.
std::string block_words(const Report& r, double share_of_loads) {
  if (r.block_decodes == 0) return "";
  const double saved = static_cast<double>(r.block_decodes_saved) / static_cast<double>(r.block_decodes);
  const double gain = saved * share_of_loads;
  if (gain < 0.1) return "";
  return " Twice the `max_block_bytes` would save about " + percent(saved) +
         " of the loads of blocks, and give about " + number(r.samples_per_s / (1 - gain), 0) + " samples/s.";
}

Judgement by_cpu(const Report& r, const Rates& rates, double share_of_loads) {
  const auto costliest = std::ranges::max_element(r.stages, {}, &StageReport::share);
  std::string help = delay_words(r, "Runners", r.runner_delay_share);
  const double away = idle_share(r, Idle::pause);
  const MentionedCauses told{.delay = !help.empty(), .pause = away >= min_idle};
  if (told.pause) help += " The caller was away for " + percent(away) + " of the time, in long pauses.";
  if (help.empty())
    help = r.threads < r.cores ? another_thread(r) : " More cores, or a cheaper " + costliest->name + ", would help.";
  return {Bound::cpu,
          "The CPU bounds the run: " + rates.rate + " is " + rates.reached + " of what " + threads_of(r) + " can do; " +
              costliest->name + " takes " + percent(costliest->share) + " of it." +
              (reads(*costliest) ? slow_file_words(r) + block_words(r, share_of_loads) : "") + help,
          told};
}

Judgement by_threads(const Report& r, const Rates& rates) {
  return {Bound::threads, "The executor bounds the run: for " + percent(idle_share(r, Idle::threads)) +
                              " of the time there was work and no thread for it. Others use the executor, or the "
                              "application allows fewer threads; " +
                              rates.rate + " is " + rates.reached + " of what " + threads_of(r) + " can do."};
}

// Returns the share of the runners' time in which they were idle for a reason. Pauses of the caller count neither as
// time nor as idleness. At the end of a run, when nothing is left to do, runners are idle without a reason.
double idle_with_reason(const Report& r) {
  double sum = 0;
  for (const IdleShare& i : r.idle)
    if (i.why != Idle::pause) sum += i.share;
  return sum / std::max(1 - idle_share(r, Idle::pause), 0.01);
}

// Makes the verdict if runners were idle for long, but no single reason is large.
Judgement by_nothing(const Report& r, const Rates& rates) {
  std::string reasons;
  for (const IdleShare& i : r.idle)
    if (i.share >= 0.03) reasons += (reasons.empty() ? "" : ", ") + percent(i.share) + " " + to_string(i.why);
  return {Bound::unknown,
          "No single thing bounds the run: " + rates.rate + " is " + rates.reached + " of what " + threads_of(r) +
              " can do. Runners had nothing to do for " + percent(r.runner_idle_share) + " of their time (" + reasons +
              "), and " +
              (r.sink.empty() ? "the caller waited for batches " : "the thread that stores waited for samples ") +
              percent(r.consumer_wait_share) + " of it. A longer run, without pauses, would say more."};
}

Judgement judgement_of(const Report& r, double share_of_loads) {
  const Rates rates(r);
  const IdleShare idle = worst_idleness(r);
  // Share of the runners' time in which they work but wait for something.
  const double waiting = r.runner_wait_share * (1 - r.runner_idle_share);
  const auto matters = [&](double share) { return share >= min_idle && share > waiting; };
  const bool idle_matters = (matters(idle.share) || (idle.why == Idle::stream && idle.share >= min_idle)) &&
                            rate_without(r, idle) >= 1.1 * r.samples_per_s;
  const double for_caller = idle_share(r, Idle::caller) + idle_share(r, Idle::leases);
  // The caller's thread asks the order too, when it releases a batch. That time is not in `consumer_wait_share`. So the
  // order is checked before that share.
  if (idle.why == Idle::order && idle_matters && idle.share > idle_share(r, Idle::caller))
    return {Bound::order, idle_words(r, idle)};
  if (r.consumer_wait_share < 0.1 || (for_caller > 0.5 && r.consumer_wait_share < 0.3)) return by_caller(r, rates);
  if (others_hold_up(r) && *r.runner_delay_share >= r.runner_wait_share) return by_other_processes(r, rates);
  // Runners may be idle while the caller is away. Only if they are idle for longer than that, the device is the cause.
  if (matters(device_share(r)) && device_share(r) > 1 - r.consumer_wait_share) return by_device(r, rates);
  if (idle_matters && idle.why == Idle::blocks && network_waits(r))
    return by_network(r, rates,
                      "runners waited " + percent(idle.share) + " of their time for blocks that others fetched");
  if (idle_matters)
    return {*bound_of(idle.why), idle_words(r, idle) + (bound_of(idle.why) == Bound::blocks ? slow_file_words(r) : "")};
  if (matters(for_caller) && r.consumer_wait_share < 0.2) return by_caller(r, rates);
  if (r.runner_wait_share > 0.3 && rates.of_limit < 0.8) return by_waiting(r, rates);
  if (matters(idle_share(r, Idle::threads)) && rates.of_limit < 0.8 && r.threads <= r.cores)
    return by_threads(r, rates);
  const double there = std::max(1 - idle_share(r, Idle::pause), 0.01);
  if (rates.of_limit < 0.7 * there) {
    if (idle_with_reason(r) >= 0.3) return by_nothing(r, rates);
    // All batches were ready, and the caller had not asked for a batch.
    if (r.runner_idle_share - idle_with_reason(r) * there - (1 - there) >= 0.3 && r.consumer_wait_share < 0.3)
      return by_caller(r, rates);
  }
  if (r.threads > r.cores) return by_cores(r, rates);
  return std::min(r.threads_wanted, r.cores) > r.threads ? by_memory(r, rates) : by_cpu(r, rates, share_of_loads);
}

}  // namespace

void set_verdict(Report& r, bool short_samples, double share_of_loads) {
  // A `write` gets no note about missing runners, because few samples need few runners.
  if (r.sink.empty() && r.threads_seen < (short_samples ? std::min(r.threads, r.cores) : r.threads) &&
      r.seconds > 0.1)  // in a shorter run the missing runners may not have been needed
    r.notes.push_back("only " + std::to_string(r.threads_seen) + " of " + std::to_string(r.threads) +
                      " runners were seen at once");
  if ((r.sink.empty() ? r.batches : r.samples) < 4 || r.limit_samples_per_s <= 0) {
    r.bound = Bound::unknown;
    r.verdict = "Too few " + std::string(r.sink.empty() ? "batches" : "samples") + " to say what bounds the run.";
    return;
  }
  Judgement found = judgement_of(r, share_of_loads);
  r.bound = found.bound;
  r.verdict = std::move(found.verdict);
  if (r.seconds < long_enough_s) {
    r.verdict = "A run of " + number(r.seconds, 2) + " s is too short to be sure: a longer one says more. " + r.verdict;
    return;
  }
  r.besides = next_cause(r, found.told);
}

}  // namespace penstock::detail::runtime
