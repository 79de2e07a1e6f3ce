// SPDX-License-Identifier: Apache-2.0
// expect: is called with two arguments, `void operator()(Sample& sample, Context& context) const`
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) {
  return p | [](ps::Sample&) {};
}
#else
ps::Pipeline f(const ps::Pipeline& p) {
  return p | [](ps::Sample&, ps::Context&) {};
}
#endif
