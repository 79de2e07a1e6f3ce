// SPDX-License-Identifier: Apache-2.0
// expect: what filter() asks must return bool
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::filter("x", [](ps::View<const int, 0> x) { return x(); });
}
#else
ps::Stage s() {
  return ps::filter("x", [](ps::View<const int, 0> x) { return x() != 0; });
}
#endif
