// SPDX-License-Identifier: Apache-2.0
// expect: the `Source` of these options must be a source, and have a constructor that takes them
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Options {
  using Source = struct Numbers;
  int count = 1;
};
struct Numbers {
  Numbers() = default;
#ifndef BROKEN
  explicit Numbers(Options) {}
#endif
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
  void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
};
ps::Pipeline p() { return ps::from(Options{}); }
