// SPDX-License-Identifier: Apache-2.0
// expect: read() of this source takes something else; it is `void read(std::uint64_t index, SampleBuilder& out) const`
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Numbers {
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
#ifdef BROKEN
  void read(ps::SampleBuilder& out, std::uint64_t) const { out.scalar<std::uint8_t>(0, 1); }
#else
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
#endif
};
ps::Pipeline p() { return ps::from(Numbers{}); }
