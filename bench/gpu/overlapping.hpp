// SPDX-License-Identifier: Apache-2.0
// How well copies and steps overlap: the same numbers for our loader, a loop by hand, and what must not pass.
//
// The gates hold the loader against the longer of a step and a copy, each alone, on a GPU that is as hot: one that has
// nothing to do stands at a few hundred MHz, and matrix products take more power than there is for the highest clock.
// Steps and copies may slow each other down, whoever orders them, as they share the GPU's memory. So it is told as well
// what both come to beside each other when nothing orders them, and what a loop written by hand comes to, in turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "batches.hpp"
#include "gpu_results.hpp"
#include "steps.hpp"

namespace penstock::gpu_bench {

BatchSize overlap_batch(const Settings& settings);
std::uint64_t overlap_steps(const Settings& settings);
// Epochs of as many batches of that size.
Pipeline stamped_batches(const BatchSize& size, std::uint64_t steps);

// One round; seconds a step.
struct OverlapRound {
  double compute_before, compute_after;  // steps without copies, on both sides of `together`
  double copies;                         // without steps
  double free_compute, free_copies;      // each beside the other, which goes on all the time
  double together;

  double compute() const { return (compute_before + compute_after) / 2; }
  double longer() const;
  // While both are in work each goes as it does beside the other; what is left of the longer one goes as it does alone.
  double best_possible() const;
  // 1: the shorter one is hidden whole; 0: they come one after the other.
  double eta() const;
  // `eta` with times beside each other: 1 for the best possible.
  double free_eta() const;
};

struct Overlap {
  std::vector<OverlapRound> rounds;
  double median(const std::function<double(const OverlapRound&)>& of) const;
  double together_s() const { return median(&OverlapRound::together); }
  nlohmann::ordered_json raw() const;
};

// One round more: `together` gives seconds a step. When it returns, the GPU is warm and has nothing to do.
void measure_round(Overlap& to, const Settings& settings, const BatchSize& size, const Load& load,
                   const CudaStream& stream, const std::function<double()>& together);

// The rows that were counted in the device's memory at `wrong`: there may be none.
void tell_wrong_rows(Results& results, const std::string& name, const Memory& wrong);

// One case more, with records of a file.
void overlap_of_file(Results& results, const Settings& settings);

constexpr double min_eta = 0.95, max_against_longer = 1.03, min_rate = 0.95, max_step_starved = 0.01;

}  // namespace penstock::gpu_bench
