#pragma once

#include <string>

#include "console/output.hpp"

namespace penstock::cli {

/// A file that `penstock bench --json FILE` wrote, with all that is read of its runs. @throws UsageError, which begins
/// with `option`, where it is something else; penstock::Error.
Json read_bench_result(const std::string& file, const std::string& option);

}  // namespace penstock::cli
