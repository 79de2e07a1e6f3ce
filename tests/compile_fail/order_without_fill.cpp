// SPDX-License-Identifier: Apache-2.0
// expect: this order lacks `void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> points) const`
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Same {
  std::uint64_t size(std::uint64_t n) const { return n; }
#ifndef BROKEN
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint>) const {}
#endif
  std::string name() const { return "same"; }
  std::string describe() const { return ""; }
};
ps::Stage s() { return ps::order(Same{}); }
