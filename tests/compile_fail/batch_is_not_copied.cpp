// SPDX-License-Identifier: Apache-2.0
// expect: a batch is one lease: take it by reference (Batch& batch), or std::move it
#include <penstock/penstock.hpp>
namespace ps = penstock;
#ifdef BROKEN
ps::Batch f(ps::Batch& b) { return b; }
#else
ps::Batch f(ps::Batch& b) { return std::move(b); }
#endif
