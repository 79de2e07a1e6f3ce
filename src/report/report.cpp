// SPDX-License-Identifier: Apache-2.0
#include <penstock/report.hpp>

#include <algorithm>
#include <cstdio>

#include "report/network_words.hpp"
#include "report/tune_words.hpp"

namespace penstock {

namespace {

std::string format(const char* pattern, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return format(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

// Lists the reasons for which runners had nothing to do for at least 1 % of their time.
std::string idle_text(const Report& r) {
  std::string out;
  for (const IdleShare& i : r.idle)
    if (i.share >= 0.01) out += format("%s %.0f %% %s", out.empty() ? "" : ",", 100 * i.share, to_string(i.why));
  return out.empty() ? out : "  runners had nothing to do:" + out + "\n";
}

// Lists what runners waited for during at least 1 % of their time.
std::string waits_text(const Report& r) {
  std::string out;
  for (const WaitShare& w : r.waits)
    if (w.share >= 0.01) out += format("%s %.0f %% %s", out.empty() ? "" : ",", 100 * w.share, to_string(w.what));
  return out.empty() ? out : "  runners in work waited for:" + out + "\n";
}

// Describes who used the cores, and who waited for them, as far as this is known.
std::string cores_text(const Report& r) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "  cores: " : ", ") + text; };
  if (r.own_core_share && r.other_core_share) {
    add(format("this process had %.0f %% of the time of %u", 100 * *r.own_core_share, r.cores));
    add(format("others %.0f %%", 100 * *r.other_core_share));
  }
  if (r.runner_delay_share) add(format("runners waited %.0f %% of their time for one", 100 * *r.runner_delay_share));
  if (r.caller_delay_share) add(format("the caller %.0f %%", 100 * *r.caller_delay_share));
  return out.empty() ? out : out + "\n";
}

// Describes copies and stages on one device; empty if no copy was timed.
std::string device_text(const DeviceReport& d) {
  if (d.copies.timed == 0) return "";
  std::string out = "  " + d.name +
                    format(": copies %.1f us a batch (%.0f %% of the time, ", d.copies.us, 100 * d.copies.share) +
                    bytes_text(d.copy_bytes_per_s) + "/s)";
  if (d.stages.timed != 0) out += format(", stages %.1f us (%.0f %%)", d.stages.us, 100 * d.stages.share);
  out += format(", waiting for a buffer %.1f us (%.0f %%)", d.buffer.us, 100 * d.buffer.share);
  if (d.starved.timed != 0)
    out += format("; the caller's stream starved %.1f us (%.0f %%)", d.starved.us, 100 * d.starved.share);
  return out + "\n";
}

}  // namespace

const char* to_string(Idle why) noexcept {
  switch (why) {
    case Idle::caller:
      return "caller";
    case Idle::pause:
      return "pause";
    case Idle::leases:
      return "leases";
    case Idle::straggler:
      return "straggler";
    case Idle::buffers:
      return "buffers";
    case Idle::entries:
      return "entries";
    case Idle::blocks:
      return "blocks";
    case Idle::block_memory:
      return "block_memory";
    case Idle::stream:
      return "stream";
    case Idle::order:
      return "order";
    case Idle::threads:
      return "threads";
  }
  return "unknown";
}

const char* to_string(Wait what) noexcept {
  switch (what) {
    case Wait::lock:
      return "lock";
    case Wait::sleep:
      return "sleep";
    case Wait::read:
      return "read";
    case Wait::page:
      return "page";
    case Wait::network:
      return "network";
    case Wait::other:
      return "other";
  }
  return "other";
}

std::string Report::text() const {
  std::string out = verdict + "\n";
  if (!besides.empty()) out += besides + "\n";
  if (!lately.empty()) out += lately + "\n";
  if (sink.empty()) out += format("  %llu batches,", static_cast<unsigned long long>(batches));
  out +=
      format("%s %llu samples in %.2f s: %.0f samples/s, %.3f CPU seconds per 1,000 samples\n", sink.empty() ? "" : " ",
             static_cast<unsigned long long>(samples), seconds, samples_per_s, cpu_s_per_1000);
  out += format("  limit of %u %s on %u cores: about %.0f samples/s (from %llu samples measured); reached %.0f %%\n",
                threads, threads == 1 ? "thread" : "threads", cores, limit_samples_per_s,
                static_cast<unsigned long long>(limit_chains),
                limit_samples_per_s > 0 ? std::min(100 * samples_per_s / limit_samples_per_s, 100.0) : 0.0);
  if (sink.empty())
    out += format("  next(): p50 %.3f ms, p99 %.3f ms, first %.3f ms; the caller waited %.0f %% of the time\n",
                  next_p50_s * 1e3, next_p99_s * 1e3, first_batch_s * 1e3, 100 * consumer_wait_share);
  else
    out += "  stored into " + sink +
           format(": the thread that stores waited %.0f %% of the time for samples; commits had %.0f %% of it\n",
                  100 * consumer_wait_share, 100 * commit_share);
  out += idle_text(*this);
  out += waits_text(*this);
  out += cores_text(*this);
  if (sample_p50_s != 0)
    out += format("  a sample: p50 %.3f ms, p99 %.3f ms\n", sample_p50_s * 1e3, sample_p99_s * 1e3);
  for (const FileReport& f : files)
    out +=
        format("  reading %5.1f %%  %9.2f us a %s of  ", 100 * f.share, f.read_us, f.of_blocks ? "block" : "record") +
        f.name + "\n";
  out += "    CPU      each us   waits us         bytes  stage\n";
  for (const StageReport& s : stages)
    out += format("  %5.1f %%  %9.2f  %9.2f  %12s  ", 100 * s.share, s.cpu_us_per_sample, s.wait_us_per_sample,
                  bytes_text(static_cast<double>(s.bytes)).c_str()) +
           s.name + "\n";
  if (fetched) out += detail::runtime::fetch_text(*fetched);
  for (const DeviceReport& d : devices) out += device_text(d);
  if (sending)
    out += format(
        "  sending waited %.0f %% of the time for batches, %.0f %% for a buffer on the device, %.0f %% for copies; "
        "%.0f "
        "%% was in calls\n",
        100 * sending->batch_share, 100 * sending->buffer_share, 100 * sending->read_share, 100 * sending->call_share);
  for (const MemoryPurpose& m : memory)
    out += format("  memory  %llu x %s  ", static_cast<unsigned long long>(m.count),
                  bytes_text(static_cast<double>(m.bytes_each)).c_str()) +
           m.name + "\n";
  if (copied_bytes != 0) out += "  copied besides: " + bytes_text(static_cast<double>(copied_bytes)) + "\n";
  if (errors != 0) out += format("  bad samples acted on: %llu\n", static_cast<unsigned long long>(errors));
  if (tuning) out += detail::runtime::tune_text(*tuning);
  for (const std::string& note : notes) out += "  note: " + note + "\n";
  return out;
}

}  // namespace penstock
