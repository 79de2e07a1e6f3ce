#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// For a person: a line of what the options are now, and one of each trial.
std::string tune_text(const TuneReport& tuning);

}  // namespace penstock::detail::runtime
