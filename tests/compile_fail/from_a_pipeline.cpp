// SPDX-License-Identifier: Apache-2.0
// expect: from() begins a pipeline over a source, and this is a pipeline already
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& a) { return ps::from(a); }
#else
ps::Pipeline f(const ps::Pipeline& a) { return ps::from(ps::concat(a, a)); }
#endif
