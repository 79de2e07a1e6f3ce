// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Returns a page with the report of a job. The only files that the page loads are the slides' pictures. `data` is JSON
/// with `result` (a RunResult), `settings` and `slides`. Each slide has name, file, state, tiles, places, leftOut,
/// details, and, if they exist, what, cause, picture and bad.
std::string report_page(const std::string& data);

}  // namespace penstock::cli
