// SPDX-License-Identifier: Apache-2.0
// expect: this source has no schema(), which names the fields of its records; add `Schema schema() const`
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Numbers {
  std::uint64_t size() const { return 1; }
#ifndef BROKEN
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
#endif
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
};
ps::Pipeline p() { return ps::from(Numbers{}); }
