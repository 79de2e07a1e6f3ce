// SPDX-License-Identifier: Apache-2.0
// expect: what map_batches() calls must return nothing
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map_batches([](ps::HostBatch& batch) { return batch.rows(); });
}
#else
ps::Stage s() {
  return ps::map_batches([](ps::HostBatch& batch) { batch.rows(); });
}
#endif
