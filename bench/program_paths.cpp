// SPDX-License-Identifier: Apache-2.0
#include "program_paths.hpp"

const char* const penstock::bench::tool_path = PENSTOCK_BENCH_TOOL_PATH;
const char* const penstock::bench::make_slides_path = PENSTOCK_BENCH_MAKE_SLIDES_PATH;
