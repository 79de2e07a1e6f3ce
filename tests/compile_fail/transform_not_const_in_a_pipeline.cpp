// SPDX-License-Identifier: Apache-2.0
// expect: the call operator of a transform must be const, as any thread calls it at any time
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Change {
#ifdef BROKEN
  void operator()(ps::Sample&, ps::Context&) {}
#else
  void operator()(ps::Sample&, ps::Context&) const {}
#endif
};
ps::Pipeline f(const ps::Pipeline& p) { return p | Change{}; }
