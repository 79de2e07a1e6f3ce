// Where the tool `penstock` was built.
#pragma once

namespace penstock::bench {

// Defined where PENSTOCK_BENCH_TOOL is. In a file of its own, as it differs from one build folder to the next.
extern const char* const tool_path;

}  // namespace penstock::bench
