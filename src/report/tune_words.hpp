// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns a text for people. The first line has the present options and, if tuning has ended, the reason. Each trial
/// has a further line.
std::string tune_text(const TuneReport& tuning);

}  // namespace penstock::detail::runtime
