// SPDX-License-Identifier: Apache-2.0
// expect: key() would never be called, as it has another signature than `std::string key(std::uint64_t index) const`
// lines: 36
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Numbers {
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
#ifdef BROKEN
  std::string key(std::uint64_t index) { return std::to_string(index); }
#else
  std::string key(std::uint64_t index) const { return std::to_string(index); }
#endif
};
ps::Pipeline p() { return ps::from(Numbers{}); }
