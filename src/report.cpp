#include <penstock/report.hpp>

#include <cmath>
#include <cstdio>

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
    case Bound::cores:
      return "cores";
  }
  return "unknown";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += format("\\u%04x", static_cast<unsigned>(byte));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(double value) { return std::isfinite(value) ? format("%.9g", value) : "0"; }

}  // namespace

std::string Report::text() const {
  std::string out = verdict + "\n";
  out += format("  %llu batches, %llu samples in %.2f s: %.0f samples/s, %.3f CPU seconds per 1,000 samples\n",
                static_cast<unsigned long long>(batches), static_cast<unsigned long long>(samples), seconds,
                samples_per_s, cpu_s_per_1000);
  out += format("  limit of %u threads: %.0f samples/s; reached %.0f %%\n", threads, limit_samples_per_s,
                limit_samples_per_s > 0 ? 100 * samples_per_s / limit_samples_per_s : 0.0);
  out += format("  next(): p50 %.3f ms, p99 %.3f ms, first %.3f ms; the caller waited %.0f %% of the time\n",
                next_p50_s * 1e3, next_p99_s * 1e3, first_batch_s * 1e3, 100 * consumer_wait_share);
  for (const StageReport& s : stages)
    out += format("  %5.1f %%  %9.2f us  %12s  ", 100 * s.share, s.cpu_us_per_sample,
                  bytes_text(static_cast<double>(s.bytes)).c_str()) +
           s.name + "\n";
  for (const MemoryRow& m : memory)
    out += format("  memory  %llu x %s  ", static_cast<unsigned long long>(m.count),
                  bytes_text(static_cast<double>(m.bytes_each)).c_str()) +
           m.name + "\n";
  if (copied_bytes != 0) out += "  copied besides: " + bytes_text(static_cast<double>(copied_bytes)) + "\n";
  if (errors != 0) out += format("  bad samples acted on: %llu\n", static_cast<unsigned long long>(errors));
  for (const std::string& note : notes) out += "  note: " + note + "\n";
  return out;
}

std::string Report::json() const {
  std::string out = "{";
  const auto add = [&out](const char* name, const std::string& value) {
    out += (out.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": " + value;
  };
  add("bound", quoted(bound_name(bound)));
  add("verdict", quoted(verdict));
  add("batches", std::to_string(batches));
  add("samples", std::to_string(samples));
  add("bytes", std::to_string(bytes));
  add("copied_bytes", std::to_string(copied_bytes));
  add("errors", std::to_string(errors));
  add("seconds", number(seconds));
  add("first_batch_s", number(first_batch_s));
  add("samples_per_s", number(samples_per_s));
  add("limit_samples_per_s", number(limit_samples_per_s));
  add("cpu_s_per_1000", number(cpu_s_per_1000));
  add("threads", std::to_string(threads));
  add("threads_seen", std::to_string(threads_seen));
  add("next_p50_s", number(next_p50_s));
  add("next_p99_s", number(next_p99_s));
  add("consumer_wait_share", number(consumer_wait_share));
  add("runner_idle_share", number(runner_idle_share));
  add("slot_allocations", std::to_string(slot_allocations));
  std::string list;
  for (const StageReport& s : stages)
    list += (list.empty() ? "" : ", ") + ("{\"name\": " + quoted(s.name)) +
            ", \"samples\": " + std::to_string(s.samples) + ", \"bytes\": " + std::to_string(s.bytes) +
            ", \"cpu_us_per_sample\": " + number(s.cpu_us_per_sample) + ", \"share\": " + number(s.share) + "}";
  add("stages", "[" + list + "]");
  list.clear();
  for (const MemoryRow& m : memory)
    list += (list.empty() ? "" : ", ") + ("{\"name\": " + quoted(m.name)) + ", \"count\": " + std::to_string(m.count) +
            ", \"bytes_each\": " + std::to_string(m.bytes_each) + "}";
  add("memory", "[" + list + "]");
  list.clear();
  for (const std::string& note : notes) list += (list.empty() ? "" : ", ") + quoted(note);
  add("notes", "[" + list + "]");
  return out + "}";
}

}  // namespace penstock
