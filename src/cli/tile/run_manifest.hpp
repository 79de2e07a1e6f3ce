// Whether a file is the run.json of a report.
#pragma once

#include "console/output.hpp"

namespace penstock::cli {

/// Which part of it is missing, or of another kind than it is read as; null: none.
const char* what_a_manifest_lacks(const Json& run);

}  // namespace penstock::cli
