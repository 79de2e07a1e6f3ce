#include "tool_path.hpp"

const char* const penstock::bench::tool_path = PENSTOCK_BENCH_TOOL_PATH;
