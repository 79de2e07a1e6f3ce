// SPDX-License-Identifier: Apache-2.0
// expect: a pipeline stands before |, never after it: pipeline | stage
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) { return ps::batch(4) | p; }
#else
ps::Pipeline f(const ps::Pipeline& p) { return p | ps::batch(4); }
#endif
