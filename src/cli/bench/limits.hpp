#pragma once

#include <penstock/pipeline.hpp>

#include "stores/input_store.hpp"

namespace penstock::cli {

/// What a run's rate is to be seen beside, in samples a second. Measuring each takes as long as the run
/// did, within 20 to 200 ms.
struct Limits {
  double read = 0;    ///< that many threads reading records in the pipeline's order, and every byte of them once
  double memcpy = 0;  ///< that many threads copying a sample's bytes of the batch
};

Limits measure_limits(const InputStore& store, const Pipeline& pipeline, unsigned threads, double run_s);

}  // namespace penstock::cli
