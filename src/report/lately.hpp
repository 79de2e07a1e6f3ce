// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns a note about the last seconds of a run, if something else bounds them than the whole run, or they are much
/// slower or faster; otherwise nothing.
std::string what_changed(const Report& whole, const Report& lately);

}  // namespace penstock::detail::runtime
