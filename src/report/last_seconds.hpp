// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Compares the last seconds of a run with the whole run. Returns a note if a different cause bounds the last seconds,
/// or if they are much slower or faster. Otherwise, and if the run is too short for this, returns an empty string.
std::string note_on_last_seconds(const Report& whole, const Report& lately);

}  // namespace penstock::detail::runtime
