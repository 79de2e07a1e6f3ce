// SPDX-License-Identifier: Apache-2.0
// expect: version() would never be called, as it has another signature than `std::uint64_t version() const`
// lines: 36
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Nothing {
  void operator()(ps::Sample&, ps::Context&) const {}
#ifdef BROKEN
  std::string version() const { return "2"; }
#else
  std::uint64_t version() const { return 2; }
#endif
};
ps::Pipeline p(const ps::Pipeline& before) { return before | ps::map(Nothing{}); }
