// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "console/output.hpp"

namespace penstock::cli {

/// The version of what `penstock bench --json FILE` writes.
inline constexpr int bench_result_version = 1;

/// Reads a file that `penstock bench --json FILE` wrote. Checks that the runs in the file have all that the tool uses.
/// @throws UsageError, whose message begins with `option`, if the file is not such a file. If `option` is not empty,
/// also throws it for a run without `construction_s`, because the rates of such a run include the loader's
/// construction.
/// @throws penstock::Error.
Json read_bench_result(const std::string& file, const std::string& option);

}  // namespace penstock::cli
