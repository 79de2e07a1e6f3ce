// SPDX-License-Identifier: Apache-2.0
// expect: NoStage
// expect: this is no stage; after | stand stages
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct NoStage {};
#ifdef BROKEN
ps::Pipeline f(const ps::Pipeline& p) { return p | NoStage{}; }
#else
ps::Pipeline f(const ps::Pipeline& p) { return p | ps::batch(1); }
#endif
