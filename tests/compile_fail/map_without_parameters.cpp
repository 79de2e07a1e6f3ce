// SPDX-License-Identifier: Apache-2.0
// expect: calls takes (View<const T, R> in, View<U, S> out), or an Output<U, S> in place of that view
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map("x", [] {});
}
#else
ps::Stage s() {
  return ps::map("x", [](ps::View<float, 1>) {});
}
#endif
