// SPDX-License-Identifier: Apache-2.0
// expect: this stream has no reset(), after which the next record is an epoch's first
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Lines {
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
#ifndef BROKEN
  void reset(std::uint64_t) {}
#endif
  bool next(ps::SampleBuilder&) { return false; }
};
ps::Pipeline p() { return ps::from(Lines{}); }
