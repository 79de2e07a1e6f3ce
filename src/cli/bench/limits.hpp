#pragma once

#include <penstock/pipeline.hpp>

#include "input_store.hpp"

namespace penstock::cli {

/// What a run's rate is to be seen beside, in samples a second. Measured for a fraction of a second each.
struct Limits {
  double read = 0;    ///< that many threads reading records in the pipeline's order, and every byte of them once
  double memcpy = 0;  ///< that many threads copying a sample's bytes of the batch
};

Limits measure_limits(const InputStore& store, const Pipeline& pipeline, unsigned threads);

}  // namespace penstock::cli
