#pragma once

#include <string>

namespace penstock::cli {

/// A page that shows the report of a job, and needs nothing but the pictures beside it. `data` is JSON: `result`, as
/// RunResult has it, `settings`, and `slides`, each with name, file, state, tiles, places, leftOut, details, and, where
/// there is such, what, cause, picture and bad.
std::string report_page(const std::string& data);

}  // namespace penstock::cli
