// SPDX-License-Identifier: Apache-2.0
// expect: a sink stands in no pipeline: write(pipeline, sink)
#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb_sink.hpp>
namespace ps = penstock;
#ifdef BROKEN
void f(const ps::Pipeline& p) { p | ps::LmdbSink({.path = "out.lmdb"}); }
#else
void f(const ps::Pipeline& p) { ps::write(p, ps::LmdbSink({.path = "out.lmdb"})); }
#endif
