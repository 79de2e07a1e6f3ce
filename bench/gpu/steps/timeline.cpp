// 6. When each copy and each step was: a trace for chrome://tracing or Perfetto.
//
// A stage after `batch` records an event where a batch has been copied. When its copy began is not to be seen from
// outside; it is taken to be where the one before ended, but no earlier than a copy alone takes. Copies are a little
// longer than steps here, so that none waits for a place on the device.
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "../kernels.hpp"
#include "../overlapping.hpp"

namespace penstock::gpu_bench {

namespace {

struct Interval {
  double begin, end;  // seconds since the origin
};

// Seconds of `all` that intervals of `by` cover; both in order, each without overlap of its own.
double covered(const std::vector<Interval>& all, const std::vector<Interval>& by) {
  double sum = 0;
  for (const Interval& a : all)
    for (const Interval& b : by) sum += std::max(0.0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
  return sum;
}

nlohmann::ordered_json trace_event(const char* name, std::size_t number, int row, const Interval& at) {
  nlohmann::ordered_json event;
  event["name"] = name + (" " + std::to_string(number));
  event["ph"] = "X";
  event["pid"] = 1;
  event["tid"] = row;
  event["ts"] = 1e6 * at.begin;
  event["dur"] = 1e6 * (at.end - at.begin);
  return event;
}

nlohmann::ordered_json row_name(const char* name, int row) {
  nlohmann::ordered_json event;
  event["name"] = "thread_name";
  event["ph"] = "M";
  event["pid"] = 1;
  event["tid"] = row;
  event["args"]["name"] = name;
  return event;
}

void write_trace(const std::filesystem::path& folder, const std::vector<Interval>& copies,
                 const std::vector<Interval>& steps) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  all.push_back(row_name("copies to the GPU (ends recorded, beginnings inferred)", 1));
  all.push_back(row_name("steps", 2));
  for (std::size_t i = 0; i < copies.size(); ++i) all.push_back(trace_event("copy", i, 1, copies[i]));
  for (std::size_t i = 0; i < steps.size(); ++i) all.push_back(trace_event("step", i, 2, steps[i]));
  nlohmann::ordered_json trace;
  trace["traceEvents"] = std::move(all);
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "timeline.json");
  out << trace.dump() << '\n';
  out.close();
  if (!out) throw std::runtime_error("can't write " + (folder / "timeline.json").string());
}

}  // namespace

void timeline(Results& results, const Settings& settings) {
  results.begin(6, "timeline");
  const BatchSize size = overlap_batch(settings);
  const std::uint64_t steps = overlap_steps(settings);
  const CudaStream stream;
  const Memory host(Kind::pinned, size.bytes()), device(Kind::device, size.bytes());
  const double copy_s =
      time_on(stream, 20, [&] { copy(device.data(), host.data(), size.bytes(), stream.handle()); }) / 20;
  Load load(Load::Sort::gemm);
  load.take(0.995 * copy_s, stream, 40, true);
  const Marks copied(steps);
  std::vector<CudaEvent> begins(steps), ends(steps);
  const CudaEvent origin;
  settle();
  load.warm(stream);
  origin.record(stream.handle());
  {
    Loader loader(stamped_batches(size, steps) | copied, {.device = gpu(0), .epochs = 1});
    std::size_t i = 0;
    for (const Batch& batch : loader.epoch(stream.ref())) {
      begins.at(i).record(stream.handle());
      load.enqueue(stream.handle());
      ends.at(i).record(stream.handle());
      ++i;
      static_cast<void>(batch);
    }
    if (i != steps) throw std::runtime_error("batches are missing");
    stream.synchronize();
  }
  if (copied.count() != steps) throw std::runtime_error("a stage was not run for each batch");
  std::vector<Interval> copies, work;
  for (std::size_t i = 0; i < steps; ++i) {
    const double end = copied[i].since(origin);
    const double alone = end - copy_s;
    copies.push_back({i == 0 ? alone : std::max(alone, copies.back().end), end});
    work.push_back({begins[i].since(origin), ends[i].since(origin)});
  }
  write_trace(settings.out, copies, work);
  const std::vector<Interval> steady(copies.begin() + warm_steps, copies.end() - 1);
  double whole = 0;
  for (const Interval& c : steady) whole += c.end - c.begin;
  results.add({.name = "copy time that steps cover",
               .ours = 1e3 * covered(steady, work),
               .against = 1e3 * whole,
               .unit = "ms",
               .gate = Gate::at_least,
               .bound = min_eta});
  results.note("trace: " + (settings.out / "timeline.json").string());
}

}  // namespace penstock::gpu_bench
