#pragma once

#include <penstock/pipeline.hpp>

#include "write_store.hpp"

namespace penstock::cli {

/// Of a finished store that says nothing of what it was made from (tar shards, an LMDB of bare values), which has all
/// keys of `records`: whether the values are theirs, too. Up to 1,000 of them, spread evenly, are read and compared.
/// `threads` make them, 0 = cores - 1. @throws penstock::Error, invalid_argument where one differs.
void compare_finished(const Pipeline& records, const NewStore& store, unsigned threads);

}  // namespace penstock::cli
