// SPDX-License-Identifier: Apache-2.0
// expect: what filter() asks must return bool
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Stage s() {
  return ps::filter([](const ps::Sample& s) { return s.scalar<int>("x"); });
}
#else
ps::Stage s() {
  return ps::filter([](const ps::Sample& s) { return s.scalar<int>("x") != 0; });
}
#endif
