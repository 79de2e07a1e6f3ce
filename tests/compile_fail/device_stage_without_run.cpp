// SPDX-License-Identifier: Apache-2.0
// expect: this device stage lacks `void run(BatchView in, BatchView out, StreamRef stream) const`
#include <penstock/extend/device_stage.hpp>
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Same {
  ps::Schema schema(const ps::Schema& in) const { return in; }
#ifdef BROKEN
  void run(ps::BatchView, ps::BatchView) const {}
#else
  void run(ps::BatchView, ps::BatchView, ps::StreamRef) const {}
#endif
};
ps::Pipeline f(const ps::Pipeline& p) { return p | Same{}; }
