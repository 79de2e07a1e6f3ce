// SPDX-License-Identifier: Apache-2.0
// expect: this flat map lacks `void child(const Sample& parent, std::uint32_t number, Sample& out, Context& context)
// const`
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Twice {
  std::uint32_t count(const ps::Sample&, ps::Context&) const { return 2; }
#ifdef BROKEN
  void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) {}
#else
  void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const {}
#endif
};
ps::Pipeline f(const ps::Pipeline& p) { return p | Twice{}; }
