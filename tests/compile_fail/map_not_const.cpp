// SPDX-License-Identifier: Apache-2.0
// expect: the call operator of what map() takes must be const
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map("x", [n = 0](ps::View<int, 1> x) mutable { x(0) = ++n; });
}
#else
ps::Stage s() {
  return ps::map("x", [n = 0](ps::View<int, 1> x) { x(0) = n; });
}
#endif
