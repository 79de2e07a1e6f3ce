// SPDX-License-Identifier: Apache-2.0
// expect: a pipeline stands before |, never after it
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& a, const ps::Pipeline& b) { return a | b; }
#else
ps::Pipeline f(const ps::Pipeline& a, const ps::Stage& b) { return a | b; }
#endif
