// SPDX-License-Identifier: Apache-2.0
// 6. The timeline of copies and steps, as a trace for chrome://tracing or Perfetto.
//
// CUPTI reports when copies and kernels began and ended. Without CUPTI, a stage after `batch` records an event when a
// batch has been copied. The beginning of its copy can't be seen then. It is taken to be the end of the copy before,
// but not earlier than a copy alone would need. Copies are a little longer than steps here, so that no copy waits for
// room on the device.
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../activity.hpp"
#include "../kernels.hpp"
#include "../overlapping.hpp"

namespace penstock::gpu_bench {

namespace {

// Returns how many seconds of the intervals `all` are covered by intervals of `by`. REQUIRES: the intervals of each
// list are in order and do not overlap.
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

struct Timeline {
  const char* how;  // how the copies are known
  std::vector<Interval> copies, steps;
};

void write_trace(const std::filesystem::path& folder, const Timeline& line) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  all.push_back(row_name(("copies to the GPU (" + std::string(line.how) + ")").c_str(), 1));
  all.push_back(row_name("steps", 2));
  for (std::size_t i = 0; i < line.copies.size(); ++i) all.push_back(trace_event("copy", i, 1, line.copies[i]));
  for (std::size_t i = 0; i < line.steps.size(); ++i) all.push_back(trace_event("step", i, 2, line.steps[i]));
  nlohmann::ordered_json trace;
  trace["traceEvents"] = std::move(all);
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "timeline.json");
  out << trace.dump() << '\n';
  out.close();
  if (!out) throw std::runtime_error("can't write " + (folder / "timeline.json").string());
}

// Leaves out copies that are much shorter than the longest, because they are not copies of batches.
Timeline measured_timeline(const Activity& activity) {
  // While CUPTI records, kernels of a stream follow each other with gaps of a few microseconds. In these gaps the
  // stream does not wait for a batch.
  constexpr double launch_gap_s = 10e-6;
  Timeline out{"measured", activity.copies, merged(activity.kernels, launch_gap_s)};
  double longest = 0, origin = 0;
  for (const Interval& c : out.copies) longest = std::max(longest, c.end - c.begin);
  std::erase_if(out.copies, [&](const Interval& c) { return c.end - c.begin < longest / 4; });
  if (!out.copies.empty()) origin = out.copies.front().begin;
  for (std::vector<Interval>* all : {&out.copies, &out.steps})
    for (Interval& i : *all) i = {i.begin - origin, i.end - origin};
  // Drops the work that warmed the GPU before the first copy.
  std::erase_if(out.steps, [](const Interval& step) { return step.end < 0; });
  return out;
}

// Seconds between the first steady copy and the last copy.
struct Covered {
  double both = 0, shorter = 0;  // the time with both a copy and a step, and the time of the shorter of both
  double copying = 0, whole = 0;
  double share() const { return copying / whole; }
};
Covered look_at(const Timeline& line) {
  const Interval window{line.copies.at(warm_steps).begin, line.copies.at(line.copies.size() - 2).end};
  const auto in_window = [&](std::vector<Interval> all) {
    for (Interval& i : all) i = {std::max(i.begin, window.begin), std::min(i.end, window.end)};
    std::erase_if(all, [](const Interval& i) { return i.begin >= i.end; });
    return all;
  };
  const auto sum = [](const std::vector<Interval>& all) {
    double seconds = 0;
    for (const Interval& i : all) seconds += i.end - i.begin;
    return seconds;
  };
  const std::vector<Interval> copies = in_window(line.copies), steps = in_window(line.steps);
  return {covered(copies, steps), std::min(sum(copies), sum(steps)), sum(copies), window.end - window.begin};
}

void tell_covered(Results& results, const Timeline& line, bool judged) {
  const Covered c = look_at(line);
  const auto tell = [&](const std::string& what, double seconds, double against) {
    results.add({.name = what + ", " + line.how,
                 .ours = 1e3 * seconds,
                 .against = 1e3 * against,
                 .unit = "ms",
                 .gate = judged ? Gate::at_least : Gate::none,
                 .bound = judged ? min_eta : 0});
  };
  tell("copies beside steps / the shorter of both", c.both, c.shorter);
  tell("time in which copies were in work", c.copying, c.whole);
}

struct Recorded {
  Timeline measured, inferred;
};

// Records one epoch. CUPTI makes steps longer, so it records from before the step's duration is set.
Recorded record_epoch(const BatchSize& size, std::uint64_t steps, const CudaStream& stream, Load& load, double copy_s,
                      std::string& why_not) {
  ActivityRecorder recorder;
  why_not = recorder.why_not();
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
  Timeline inferred{"beginnings inferred", {}, {}};
  for (std::size_t i = 0; i < steps; ++i) {
    const double end = copied[i].since(origin);
    const double alone = end - copy_s;
    inferred.copies.push_back({i == 0 ? alone : std::max(alone, inferred.copies.back().end), end});
    inferred.steps.push_back({begins[i].since(origin), ends[i].since(origin)});
  }
  return {measured_timeline(recorder.finish()), std::move(inferred)};
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
  std::string why_not;
  std::vector<Recorded> epochs;
  for (int round = 0; round < (settings.quick ? 1 : 5); ++round)
    epochs.push_back(record_epoch(size, steps, stream, load, copy_s, why_not));
  const bool has_measured = std::ranges::all_of(epochs, [&](const Recorded& epoch) {
    return epoch.measured.copies.size() == steps && !epoch.measured.steps.empty();
  });
  const auto judged = [&](const Recorded& epoch) -> const Timeline& {
    return has_measured ? epoch.measured : epoch.inferred;
  };
  // A machine may stand still for some milliseconds in one epoch, so the median epoch is used.
  const auto middle = epochs.begin() + static_cast<std::ptrdiff_t>(epochs.size() / 2);
  std::ranges::nth_element(epochs, middle, {}, [&](const Recorded& epoch) { return look_at(judged(epoch)).share(); });
  if (has_measured)
    tell_covered(results, middle->measured, true);
  else
    results.note("not measured: " +
                 (why_not.empty() ? fmt::format("CUPTI told of {} copies", middle->measured.copies.size()) : why_not));
  tell_covered(results, middle->inferred, !has_measured);
  write_trace(settings.out, judged(*middle));
  results.note("trace: " + (settings.out / "timeline.json").string());
}

}  // namespace penstock::gpu_bench
