// SPDX-License-Identifier: Apache-2.0
// expect: the call operator of what filter() asks must be const
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::filter("x", [n = 0](ps::View<const int, 0>) mutable { return ++n > 3; });
}
#else
ps::Stage s() {
  return ps::filter("x", [n = 0](ps::View<const int, 0> x) { return x() > n; });
}
#endif
