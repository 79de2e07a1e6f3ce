// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Returns a self-contained page with the results of a bench. `data` is JSON as `penstock bench --json` writes it.
std::string bench_page(const std::string& data);

}  // namespace penstock::cli
