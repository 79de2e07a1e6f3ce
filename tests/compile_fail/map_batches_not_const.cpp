// SPDX-License-Identifier: Apache-2.0
// expect: the call operator of what map_batches() takes must be const
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map_batches([n = 0](ps::HostBatch& batch) mutable { batch.view<int, 1>("x")(0) = ++n; });
}
#else
ps::Stage s() {
  return ps::map_batches([n = 0](ps::HostBatch& batch) { batch.view<int, 1>("x")(0) = n; });
}
#endif
