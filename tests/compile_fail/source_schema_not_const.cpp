// SPDX-License-Identifier: Apache-2.0
// expect: schema() of this source must be const and give a Schema
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Numbers {
  std::uint64_t size() const { return 1; }
#ifdef BROKEN
  ps::Schema schema() { return {{"x", ps::DType::u8, {}}}; }
#else
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
#endif
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
};
ps::AnySource p() { return ps::share(Numbers{}); }
