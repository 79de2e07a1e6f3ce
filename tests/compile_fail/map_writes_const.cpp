// SPDX-License-Identifier: Apache-2.0
// expect: the view that map() writes must not be of const elements
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map("x", [](ps::View<const float, 1>) {});
}
#else
ps::Stage s() {
  return ps::map("x", [](ps::View<float, 1>) {});
}
#endif
