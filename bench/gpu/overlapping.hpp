// How well copies and steps overlap: the same numbers for our loader, a loop by hand, and what must not pass.
#pragma once

#include <functional>
#include <vector>

#include "batches.hpp"
#include "results.hpp"
#include "steps.hpp"

namespace penstock::gpu_bench {

BatchSize overlap_batch(const Settings& settings);
std::uint64_t overlap_steps(const Settings& settings);
// Epochs of as many batches of that size.
Pipeline stamped_batches(const BatchSize& size, std::uint64_t steps);

// Of rounds in turn: a step without a copy, a copy without a step, both together. Seconds.
struct Overlap {
  std::vector<double> compute, copies, together;
  double compute_s() const { return median_of(compute); }
  double copy_s() const { return median_of(copies); }
  double together_s() const { return median_of(together); }
  // 1: the shorter one is hidden whole; 0: they come one after the other. Median of the rounds.
  double eta() const;
  double against_longer() const;
};
// One round more: `together` gives seconds a step.
void measure_round(Overlap& to, const BatchSize& size, const Load& load, const CudaStream& stream,
                   const std::function<double()>& together);

constexpr double min_eta = 0.95, max_against_longer = 1.03, min_rate = 0.95;

}  // namespace penstock::gpu_bench
