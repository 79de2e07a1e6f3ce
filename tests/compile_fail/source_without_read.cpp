// SPDX-License-Identifier: Apache-2.0
// expect: this source has no read(), which gives one record
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Numbers {
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
#ifndef BROKEN
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
#endif
};
ps::Pipeline p() { return ps::from(Numbers{}); }
