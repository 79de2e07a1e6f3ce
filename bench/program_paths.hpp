// SPDX-License-Identifier: Apache-2.0
// The paths of the tool `penstock` and of `make_slides` in the build folder.
#pragma once

namespace penstock::bench {

// Defined only in builds with PENSTOCK_BENCH_PROGRAMS. They have a file of their own, because they differ between build
// folders.
extern const char* const tool_path;
extern const char* const make_slides_path;

}  // namespace penstock::bench
