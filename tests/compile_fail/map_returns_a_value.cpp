// SPDX-License-Identifier: Apache-2.0
// expect: what map() calls must return nothing; it writes its result through a second parameter
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map("x", [](ps::View<const float, 1> in) { return in(0); });
}
#else
ps::Stage s() {
  return ps::map("x", [](ps::View<const float, 1> in, ps::View<float, 1> out) { out(0) = in(0); });
}
#endif
