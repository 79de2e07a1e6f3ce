// SPDX-License-Identifier: Apache-2.0
// expect: stages follow a pipeline, which begins with from(source)
#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Pipeline p() { return ps::Lmdb{.path = "train.lmdb"} | ps::shuffle(); }
#else
ps::Pipeline p() { return ps::from(ps::Lmdb{.path = "train.lmdb"}) | ps::shuffle(); }
#endif
