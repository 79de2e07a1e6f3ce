// SPDX-License-Identifier: Apache-2.0
// expect: filter("field", ...) asks takes a View<const T, R> of the field
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::filter("x", [](ps::View<int, 0> x) { return x() != 0; });
}
#else
ps::Stage s() {
  return ps::filter("x", [](ps::View<const int, 0> x) { return x() != 0; });
}
#endif
