#pragma once

#include <string>

namespace penstock::cli {

/// A page that shows what a bench found, and needs nothing beside it. `data` is JSON, as `penstock bench --json` writes
/// it.
std::string bench_page(const std::string& data);

}  // namespace penstock::cli
