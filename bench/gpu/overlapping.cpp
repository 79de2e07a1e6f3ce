// SPDX-License-Identifier: Apache-2.0
#include "overlapping.hpp"

#include <algorithm>
#include <functional>

#include "kernels.hpp"

namespace penstock::gpu_bench {

BatchSize overlap_batch(const Settings& settings) {
  return {.rows = 64, .row_bytes = settings.quick ? std::int64_t{256} << 10 : std::int64_t{1} << 20};
}

std::uint64_t overlap_steps(const Settings& settings) { return settings.quick ? 40 : 80; }

Pipeline stamped_batches(const BatchSize& size, std::uint64_t steps) {
  return from(Stamped{.count = steps * size.rows, .row_bytes = size.row_bytes}) | batch(size.rows);
}

double OverlapRound::longer() const { return std::max(compute(), copies); }

double OverlapRound::best_possible() const {
  if (free_copies < free_compute) return free_copies + (1 - free_copies / free_compute) * compute();
  return free_compute + (1 - free_compute / free_copies) * copies;
}

double OverlapRound::eta() const { return (compute() + copies - together) / std::min(compute(), copies); }

double OverlapRound::free_eta() const {
  return (free_compute + free_copies - together) / std::min(free_compute, free_copies);
}

double Overlap::median(const std::function<double(const OverlapRound&)>& of) const {
  std::vector<double> all;
  for (const OverlapRound& round : rounds) all.push_back(of(round));
  return median_of(all);
}

nlohmann::ordered_json Overlap::raw() const {
  nlohmann::ordered_json out;
  for (const OverlapRound& r : rounds) {
    out["compute_before_s"].push_back(r.compute_before);
    out["compute_after_s"].push_back(r.compute_after);
    out["copy_s"].push_back(r.copies);
    out["free_compute_s"].push_back(r.free_compute);
    out["free_copy_s"].push_back(r.free_copies);
    out["together_s"].push_back(r.together);
  }
  return out;
}

void tell_wrong_rows(Results& results, const std::string& name, const Memory& wrong) {
  unsigned long long count = 0;
  must(cudaMemcpy(&count, wrong.data(), sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  results.add({.name = "rows with wrong numbers, " + name,
               .ours = static_cast<double>(count),
               .ratio = static_cast<double>(count),
               .unit = "rows",
               .gate = Gate::at_most,
               .bound = 0,
               .of_speed = false});
}

void measure_round(Overlap& to, const Settings& settings, const BatchSize& size, const Load& load,
                   const CudaStream& stream, const std::function<double()>& together) {
  constexpr int times = 20;
  // As many steps as `together` has, so that the GPU gets as hot.
  const auto steps = static_cast<int>(overlap_steps(settings));
  const Memory host(Kind::pinned, size.bytes()), device(Kind::device, size.bytes()), wrong(Kind::device, 8);
  const CudaStream other;
  const auto copy_on = [&](const CudaStream& on) { copy(device.data(), host.data(), size.bytes(), on.handle()); };
  // Does what a consumer does with a batch, but in memory that no copy writes to.
  const Memory rows(Kind::device, size.bytes());
  const auto step_on = [&](const CudaStream& on) {
    check_rows(on.handle(), rows.data(), static_cast<std::size_t>(size.row_bytes), size.rows, 0,
               wrong.as<unsigned long long>());
    load.enqueue(on.handle());
  };
  const auto compute = [&] { return time_on(stream, steps, [&] { step_on(stream); }) / steps; };

  OverlapRound round = {};
  settle();
  round.copies = time_on(stream, times, [&] { copy_on(stream); }) / times;
  load.warm(stream);
  round.compute_before = compute();
  round.free_compute =
      time_beside(
          stream, times, [&] { step_on(stream); }, round.compute_before, other, [&] { copy_on(other); }, round.copies) /
      times;
  const double large = time_on(stream, times, [&] { load.enqueue_large(stream.handle()); }) / times;
  round.free_copies = time_beside(
                          stream, times, [&] { copy_on(stream); }, round.copies, other,
                          [&] { load.enqueue_large(other.handle()); }, large) /
                      times;
  round.together = together();
  settle();
  load.warm(stream);
  round.compute_after = compute();
  to.rounds.push_back(round);
}

}  // namespace penstock::gpu_bench
