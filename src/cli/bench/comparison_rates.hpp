// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/pipeline.hpp>

#include "stores/input_store.hpp"

namespace penstock::cli {

/// Rates to compare a run's rate with, in samples per second; 0 if a rate could not be measured. Measuring each rate
/// takes as long as the run took, but at least 20 ms and at most 200 ms.
struct ComparisonRates {
  /// Rate at which as many threads as in the run read records in the pipeline's order and hash their bytes. 0 for
  /// stores on servers, which would be asked for a whole range for each record.
  double read = 0;
  double memcpy = 0;  ///< rate at which as many threads as in the run copy the bytes of a row
};

ComparisonRates measure_limits(const InputStore& store, const Pipeline& pipeline, unsigned threads, double run_s);

}  // namespace penstock::cli
