// SPDX-License-Identifier: Apache-2.0
// expect: this source does not say how many records it has; add `std::uint64_t size() const`
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Numbers {
#ifndef BROKEN
  std::uint64_t size() const { return 1; }
#endif
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
};
ps::Pipeline p() { return ps::from(Numbers{}); }
