// SPDX-License-Identifier: Apache-2.0
// expect: a source begins a pipeline, from(source), and stands nowhere else
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) { return p | ps::Memory(); }
#else
ps::Pipeline f(const ps::Pipeline& p) { return p | ps::batch(1); }
#endif
