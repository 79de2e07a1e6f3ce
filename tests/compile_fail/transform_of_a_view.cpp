// SPDX-License-Identifier: Apache-2.0
// expect: on one field it is map("field", ...)
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) {
  return p | [](ps::View<float, 1>) {};
}
#else
ps::Pipeline f(const ps::Pipeline& p) {
  return p | ps::map("x", [](ps::View<float, 1>) {});
}
#endif
