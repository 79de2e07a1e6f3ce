// SPDX-License-Identifier: Apache-2.0
// expect: map_batches() takes something to call with a whole batch
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map_batches([](ps::Sample&, ps::Context&) {});
}
#else
ps::Stage s() {
  return ps::map_batches([](ps::HostBatch&) {});
}
#endif
