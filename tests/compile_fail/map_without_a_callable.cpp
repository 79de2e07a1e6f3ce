// SPDX-License-Identifier: Apache-2.0
// expect: map("field", ...) takes something to call
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() { return ps::map("x", 2.0f); }
#else
ps::Stage s() {
  return ps::map("x", [](ps::View<float, 1>) {});
}
#endif
