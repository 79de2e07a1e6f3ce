// SPDX-License-Identifier: Apache-2.0
// Where the tool `penstock` and `make_slides` were built.
#pragma once

namespace penstock::bench {

// Defined where PENSTOCK_BENCH_PROGRAMS is. In a file of their own, as they differ from one build folder to the next.
extern const char* const tool_path;
extern const char* const make_slides_path;

}  // namespace penstock::bench
