// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns text for a person. It has a line with the present options, and a line for each trial.
std::string tune_text(const TuneReport& tuning);

}  // namespace penstock::detail::runtime
