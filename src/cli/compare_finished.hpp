#pragma once

#include <penstock/pipeline.hpp>

#include "output_store.hpp"

namespace penstock::cli {

/// Compares `records` with a finished store that has all their keys, and says nothing of what it was made from (tar
/// shards, an LMDB of bare values): up to 1,000 values, spread evenly, are read and compared. `threads` make them, 0 =
/// cores - 1. @throws penstock::Error, invalid_argument where one differs.
void compare_finished(const Pipeline& records, const OutputStore& store, unsigned threads);

}  // namespace penstock::cli
