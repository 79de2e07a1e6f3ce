// SPDX-License-Identifier: Apache-2.0
// expect: this sink lacks `void finish()`
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Nowhere {
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem&, ps::Sample&) {}
  void commit() {}
#ifndef BROKEN
  void finish() {}
#endif
  std::string name() const { return "nowhere"; }
};
void f(const ps::Pipeline& p) { ps::write(p, Nowhere{}); }
