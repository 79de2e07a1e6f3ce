// SPDX-License-Identifier: Apache-2.0
// expect: a pipeline stands before |, never after it: pipeline | stage
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Doubled {
  void operator()(ps::Sample&, ps::Context&) const {}
};
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) { return Doubled() | p; }
#else
ps::Pipeline f(const ps::Pipeline& p) { return p | Doubled(); }
#endif
