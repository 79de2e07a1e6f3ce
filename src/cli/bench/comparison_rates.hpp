// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/pipeline.hpp>

#include "stores/input_store.hpp"

namespace penstock::cli {

/// Rates to compare a run's rate with, in samples per second; 0 if a rate could not be measured. Measuring each rate
/// takes as long as the run took, but at least 20 ms and at most 200 ms.
struct ComparisonRates {
  /// Rate at which the run's threads read records in the pipeline's order and hash their bytes.
  double read = 0;
  double memcpy = 0;  ///< rate at which the run's threads copy a sample's bytes into a batch
};

ComparisonRates measure_limits(const InputStore& store, const Pipeline& pipeline, unsigned threads, double run_s);

}  // namespace penstock::cli
