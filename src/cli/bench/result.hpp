// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "console/output.hpp"

namespace penstock::cli {

/// Reads a file that `penstock bench --json FILE` wrote. Checks that its runs have all that the tool uses. @throws
/// UsageError, which begins with `option`, if the file is anything else; penstock::Error.
Json read_bench_result(const std::string& file, const std::string& option);

}  // namespace penstock::cli
