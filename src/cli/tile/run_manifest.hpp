// SPDX-License-Identifier: Apache-2.0
// Checks whether a file is the run.json of a report.
#pragma once

#include "console/output.hpp"

namespace penstock::cli {

/// Returns the name of a part that is missing, or is not of the expected type. Returns null if `run` is a manifest.
const char* what_a_manifest_lacks(const Json& run);

}  // namespace penstock::cli
