// SPDX-License-Identifier: Apache-2.0
// expect: needs one call operator, with plain parameters instead of auto
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map("x", [](auto in, auto out) { out(0) = in(0); });
}
#else
ps::Stage s() {
  return ps::map("x", [](ps::View<const int, 1> in, ps::View<int, 1> out) { out(0) = in(0); });
}
#endif
