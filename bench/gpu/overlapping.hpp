// SPDX-License-Identifier: Apache-2.0
// Measures how well copies and steps overlap. The same numbers are measured for our loader, for a loop written by hand,
// and for negative controls, which must not pass.
//
// The gates compare the loader with the longer of a step and a copy, each timed alone on a GPU that is equally hot. (A
// GPU without work runs at a few hundred MHz, and matrix products need too much power for the highest clock.) Steps and
// copies share the GPU's memory, so they may slow each other down, whatever orders them. So the results also have the
// times of steps and copies beside each other without any order, and the times of a loop written by hand. All these are
// measured in turns.
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
// Returns a pipeline whose epochs have `steps` batches of this size.
Pipeline stamped_batches(const BatchSize& size, std::uint64_t steps);

// The times of one round, in seconds per step.
struct OverlapRound {
  double compute_before, compute_after;  // steps without copies, before and after `together`
  double copies;                         // copies without steps
  double free_compute, free_copies;      // steps while copies run all the time, and copies while steps run all the time
  double together;

  double compute() const { return (compute_before + compute_after) / 2; }
  double longer() const;
  // Returns the shortest possible time. While both work, each is as slow as it is beside the other. The rest of the
  // longer one is as fast as it is alone.
  double best_possible() const;
  // Returns 1 if the shorter of step and copy is completely hidden, and 0 if they run one after the other.
  double eta() const;
  // Like `eta`, but relative to `best_possible`, for which it returns 1.
  double free_eta() const;
};

struct Overlap {
  std::vector<OverlapRound> rounds;
  double median(const std::function<double(const OverlapRound&)>& of) const;
  double together_s() const { return median(&OverlapRound::together); }
  nlohmann::ordered_json raw() const;
};

// Measures one more round. `together` must return seconds per step. When it is called, the GPU is warm and has no work.
void measure_round(Overlap& to, const Settings& settings, const BatchSize& size, const Load& load,
                   const CudaStream& stream, const std::function<double()>& together);

// Adds the number of wrong rows, which `wrong` on the device has counted. It must be 0.
void tell_wrong_rows(Results& results, const std::string& name, const Memory& wrong);

// Measures one more case, with records from a file.
void overlap_of_file(Results& results, const Settings& settings);

constexpr double min_eta = 0.95, max_against_longer = 1.03, min_rate = 0.95, max_step_starved = 0.01;

}  // namespace penstock::gpu_bench
