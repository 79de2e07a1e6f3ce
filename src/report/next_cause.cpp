// SPDX-License-Identifier: Apache-2.0
#include "report/next_cause.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include <penstock/device.hpp>

namespace penstock::detail::runtime {

namespace {

// Causes that cost a smaller share of the runners' time are not mentioned.
constexpr double least_share = 0.1;

struct Cause {
  double share;
  std::vector<Bound> named_by;  // bounds whose verdicts already mention the cause
  std::string what;
};

Cause of_idleness(const IdleShare& idle, const Report& report) {
  const bool on_device = !report.device.empty() && report.device != to_string(host());
  switch (idle.why) {
    case Idle::caller:
      return {idle.share,
              {Bound::consumer, Bound::sink, Bound::copies, Bound::device, Bound::buffers},
              on_device             ? "for the device or the caller, with all batches made"
              : report.sink.empty() ? "for the caller, with all batches ready"
                                    : "for the thread that stores, with samples ready"};
    case Idle::pause:
      return {idle.share, {Bound::consumer}, "while the caller was away, in long pauses"};
    case Idle::leases:
      return {idle.share,
              {Bound::consumer, Bound::sink, Bound::copies, Bound::device, Bound::buffers},
              "for a batch to write to, as all were held, or on their way to a device"};
    case Idle::straggler:
      return {idle.share, {Bound::stragglers}, "for single slow samples, with the batches after them ready"};
    case Idle::buffers:
      return {idle.share, {Bound::buffers}, "for a batch to write to"};
    case Idle::entries:
      return {idle.share, {Bound::entries}, "for older samples, as there was no room for newer ones"};
    case Idle::blocks:
      return {idle.share, {Bound::blocks, Bound::network}, "for blocks that others loaded"};
    case Idle::block_memory:
      return {idle.share, {Bound::blocks}, "for room for the next block"};
    case Idle::stream:
      return {idle.share, {Bound::stream}, "for the stream, which another one read"};
    case Idle::order:
      return {idle.share, {Bound::order}, "for the order to say which records come next"};
    case Idle::threads:
      return {idle.share, {Bound::threads}, "for a thread of the executor"};
  }
  return {0, {}, ""};
}

// Returns the causes that kept runners with work from computing.
std::vector<Cause> of_work(const Report& r) {
  std::vector<Cause> all;
  const double in_work = 1 - r.runner_idle_share;
  double waiting_us = 0;
  for (const StageReport& stage : r.stages) waiting_us += stage.wait_us_per_sample;
  if (waiting_us > 0) {
    const auto waits = std::ranges::max_element(r.stages, {}, &StageReport::wait_us_per_sample);
    all.push_back({r.runner_wait_share * in_work * waits->wait_us_per_sample / waiting_us,
                   {Bound::storage, Bound::network, Bound::waiting, Bound::lock},
                   "in " + waits->name + ", not computing"});
  }
  if (r.runner_delay_share)
    all.push_back({*r.runner_delay_share * in_work, {Bound::other_processes, Bound::cores}, "for a core"});
  return all;
}

}  // namespace

std::string next_cause(const Report& report, const MentionedCauses& told) {
  if (report.bound == Bound::unknown) return "";
  std::vector<Cause> all;
  for (const IdleShare& idle : report.idle)
    if (!(told.pause && idle.why == Idle::pause)) all.push_back(of_idleness(idle, report));
  for (Cause& cause : of_work(report))
    if (!(told.delay && cause.what == "for a core")) all.push_back(std::move(cause));
  std::erase_if(
      all, [&](const Cause& cause) { return std::ranges::find(cause.named_by, report.bound) != cause.named_by.end(); });
  const auto largest = std::ranges::max_element(all, {}, &Cause::share);
  if (largest == all.end() || largest->share < least_share) return "";
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * largest->share);
  return "Next to that, runners waited " + std::string(percent) + " of their time " + largest->what + ".";
}

}  // namespace penstock::detail::runtime
