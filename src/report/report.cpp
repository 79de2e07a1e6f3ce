#include <penstock/report.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json_text.hpp"
#include "base/number_text.hpp"
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

const char* bound_name(Bound bound) {
  switch (bound) {
    case Bound::unknown:
      return "unknown";
    case Bound::consumer:
      return "consumer";
    case Bound::cpu:
      return "cpu";
    case Bound::storage:
      return "storage";
    case Bound::waiting:
      return "waiting";
    case Bound::lock:
      return "lock";
    case Bound::stragglers:
      return "stragglers";
    case Bound::slots:
      return "slots";
    case Bound::cells:
      return "cells";
    case Bound::blocks:
      return "blocks";
    case Bound::stream:
      return "stream";
    case Bound::order:
      return "order";
    case Bound::memory:
      return "memory";
    case Bound::copies:
      return "copies";
    case Bound::sink:
      return "sink";
    case Bound::device:
      return "device";
    case Bound::threads:
      return "threads";
    case Bound::cores:
      return "cores";
    case Bound::other_processes:
      return "other_processes";
  }
  return "unknown";
}

std::string number(double value) { return std::isfinite(value) ? detail::shortest(value) : "0"; }
std::string number(std::optional<double> value) { return value ? number(*value) : "null"; }

// Why runners had nothing to do, where they had for long.
std::string idle_text(const Report& r) {
  std::string out;
  for (const IdleShare& i : r.idle)
    if (i.share >= 0.01) out += format("%s %.0f %% %s", out.empty() ? "" : ",", 100 * i.share, to_string(i.why));
  return out.empty() ? out : "  runners had nothing to do:" + out + "\n";
}

// What they waited for, where they did for long.
std::string waits_text(const Report& r) {
  std::string out;
  for (const WaitShare& w : r.waits)
    if (w.share >= 0.01) out += format("%s %.0f %% %s", out.empty() ? "" : ",", 100 * w.share, to_string(w.what));
  return out.empty() ? out : "  runners in work waited for:" + out + "\n";
}

// Who had the cores, as far as is known.
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

// On the way to one device; nothing where it keeps no time.
std::string device_text(const DeviceReport& d) {
  if (d.copies.timed == 0) return "";
  std::string out = "  " + d.name +
                    format(": copies %.1f us a batch (%.0f %% of the time, ", d.copies.us, 100 * d.copies.share) +
                    bytes_text(d.copy_bytes_per_s) + "/s)";
  if (d.stages.timed != 0) out += format(", stages %.1f us (%.0f %%)", d.stages.us, 100 * d.stages.share);
  out += format(", waiting for a place %.1f us (%.0f %%)", d.place.us, 100 * d.place.share);
  if (d.starved.timed != 0)
    out += format("; the caller's stream starved %.1f us (%.0f %%)", d.starved.us, 100 * d.starved.share);
  return out + "\n";
}

std::string device_json(const DeviceReport& d) {
  const auto time = [](const char* name, const StreamTime& t) {
    return ", \"" + std::string(name) + "\": {\"timed\": " + std::to_string(t.timed) + ", \"us\": " + number(t.us) +
           ", \"share\": " + number(t.share) + "}";
  };
  return "{\"name\": " + detail::json_string(d.name) + ", \"copy_bytes_per_s\": " + number(d.copy_bytes_per_s) +
         time("copies", d.copies) + time("stages", d.stages) + time("place", d.place) + time("starved", d.starved) +
         "}";
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
    case Idle::slots:
      return "slots";
    case Idle::cells:
      return "cells";
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
  for (const DeviceReport& d : devices) out += device_text(d);
  if (sending)
    out += format(
        "  sending waited %.0f %% of the time for batches, %.0f %% for a place on the device, %.0f %% for copies; %.0f "
        "%% was in calls\n",
        100 * sending->batch_share, 100 * sending->place_share, 100 * sending->read_share, 100 * sending->call_share);
  for (const MemoryRow& m : memory)
    out += format("  memory  %llu x %s  ", static_cast<unsigned long long>(m.count),
                  bytes_text(static_cast<double>(m.bytes_each)).c_str()) +
           m.name + "\n";
  if (copied_bytes != 0) out += "  copied besides: " + bytes_text(static_cast<double>(copied_bytes)) + "\n";
  if (errors != 0) out += format("  bad samples acted on: %llu\n", static_cast<unsigned long long>(errors));
  if (tuning) out += detail::tune_text(*tuning);
  for (const std::string& note : notes) out += "  note: " + note + "\n";
  return out;
}

std::string Report::json() const {
  using detail::json_string;
  std::string out = "{";
  const auto add = [&out](const char* name, const std::string& value) {
    out += (out.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": " + value;
  };
  add("bound", json_string(bound_name(bound)));
  add("verdict", json_string(verdict));
  add("besides", json_string(besides));
  add("lately", json_string(lately));
  add("batches", std::to_string(batches));
  add("samples", std::to_string(samples));
  add("bytes", std::to_string(bytes));
  add("copied_bytes", std::to_string(copied_bytes));
  add("errors", std::to_string(errors));
  add("seconds", number(seconds));
  add("first_batch_s", number(first_batch_s));
  add("samples_per_s", number(samples_per_s));
  add("limit_samples_per_s", number(limit_samples_per_s));
  add("limit_chains", std::to_string(limit_chains));
  add("cpu_s_per_1000", number(cpu_s_per_1000));
  add("device", json_string(device));
  add("sink", json_string(sink));
  add("commit_share", number(commit_share));
  add("threads", std::to_string(threads));
  add("threads_wanted", std::to_string(threads_wanted));
  add("threads_seen", std::to_string(threads_seen));
  add("cores", std::to_string(cores));
  add("core_quota", number(core_quota));
  add("next_p50_s", number(next_p50_s));
  add("next_p99_s", number(next_p99_s));
  add("consumer_wait_share", number(consumer_wait_share));
  add("runner_idle_share", number(runner_idle_share));
  add("runner_wait_share", number(runner_wait_share));
  add("sample_p50_s", number(sample_p50_s));
  add("sample_p99_s", number(sample_p99_s));
  add("runner_delay_share", number(runner_delay_share));
  add("caller_delay_share", number(caller_delay_share));
  add("own_core_share", number(own_core_share));
  add("other_core_share", number(other_core_share));
  add("batch_allocations", std::to_string(batch_allocations));
  add("block_decodes", std::to_string(block_decodes));
  add("block_uses", std::to_string(block_uses));
  add("block_decodes_saved", std::to_string(block_decodes_saved));
  std::string list;
  for (const IdleShare& i : idle)
    list += (list.empty() ? "" : ", ") + ("\"" + std::string(to_string(i.why)) + "\": ") + number(i.share);
  add("idle", "{" + list + "}");
  list.clear();
  for (const WaitShare& w : waits)
    list += (list.empty() ? "" : ", ") + ("\"" + std::string(to_string(w.what)) + "\": ") + number(w.share);
  add("waits", "{" + list + "}");
  add("wait_looks", std::to_string(wait_looks));
  list.clear();
  for (const StageReport& s : stages)
    list += (list.empty() ? "" : ", ") + ("{\"name\": " + json_string(s.name)) +
            ", \"samples\": " + std::to_string(s.samples) + ", \"bytes\": " + std::to_string(s.bytes) +
            ", \"cpu_us_per_sample\": " + number(s.cpu_us_per_sample) +
            ", \"wait_us_per_sample\": " + number(s.wait_us_per_sample) + ", \"share\": " + number(s.share) + "}";
  add("stages", "[" + list + "]");
  list.clear();
  for (const MemoryRow& m : memory)
    list += (list.empty() ? "" : ", ") + ("{\"name\": " + json_string(m.name)) +
            ", \"count\": " + std::to_string(m.count) + ", \"bytes_each\": " + std::to_string(m.bytes_each) + "}";
  add("memory", "[" + list + "]");
  list.clear();
  for (const DeviceReport& d : devices) list += (list.empty() ? "" : ", ") + device_json(d);
  add("devices", "[" + list + "]");
  add("sending", sending ? "{\"batch_share\": " + number(sending->batch_share) + ", \"place_share\": " +
                               number(sending->place_share) + ", \"read_share\": " + number(sending->read_share) +
                               ", \"call_share\": " + number(sending->call_share) + "}"
                         : "null");
  list.clear();
  for (const FileReport& f : files)
    list += (list.empty() ? "" : ", ") + ("{\"name\": " + json_string(f.name)) +
            ", \"measured\": " + std::to_string(f.measured) + ", \"read_us\": " + number(f.read_us) +
            ", \"share\": " + number(f.share) + ", \"of_blocks\": " + (f.of_blocks ? "true" : "false") + "}";
  add("files", "[" + list + "]");
  add("tuning", tuning ? detail::tune_json(*tuning) : "null");
  list.clear();
  for (const std::string& note : notes) list += (list.empty() ? "" : ", ") + json_string(note);
  add("notes", "[" + list + "]");
  return out + "}";
}

}  // namespace penstock
