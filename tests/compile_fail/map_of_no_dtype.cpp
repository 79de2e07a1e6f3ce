// SPDX-License-Identifier: Apache-2.0
// expect: there is no dtype for this element type
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::map("x", [](ps::View<const long long, 1> in, ps::View<float, 1> out) { out(0) = float(in(0)); });
}
#else
ps::Stage s() {
  return ps::map("x", [](ps::View<const std::int64_t, 1> in, ps::View<float, 1> out) { out(0) = float(in(0)); });
}
#endif
