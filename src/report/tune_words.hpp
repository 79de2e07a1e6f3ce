// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns a text for a person: a line with the present options and, if tuning has ended, the reason; and a line for
/// each trial.
std::string tune_text(const TuneReport& tuning);

}  // namespace penstock::detail::runtime
