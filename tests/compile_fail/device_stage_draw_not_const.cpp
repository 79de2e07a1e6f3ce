// SPDX-License-Identifier: Apache-2.0
// expect: draw() of a device stage must be const: any thread calls it
#include <penstock/extend/device_stage.hpp>
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Same {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  void run(ps::BatchView, ps::BatchView, ps::StreamRef) const {}
#ifdef BROKEN
  float draw(ps::Rng& rng) { return float(rng.uniform()); }
#else
  float draw(ps::Rng& rng) const { return float(rng.uniform()); }
#endif
};
ps::Pipeline f(const ps::Pipeline& p) { return p | Same{}; }
