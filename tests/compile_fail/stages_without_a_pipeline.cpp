// SPDX-License-Identifier: Apache-2.0
// expect: stages follow a pipeline, which begins with from(source)
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) { return p | (ps::shuffle() | ps::batch(2)); }
#else
ps::Pipeline f(const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(2); }
#endif
