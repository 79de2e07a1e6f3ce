// SPDX-License-Identifier: Apache-2.0
// expect: sed
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() { return ps::shuffle({.sed = 2}); }
#else
ps::Stage s() { return ps::shuffle({.seed = 2}); }
#endif
