#pragma once

#include <penstock/report.hpp>

namespace penstock::detail {

/// Names what bounds the run, and how far it is from its limit: from the numbers sets `bound`, `verdict` and notes.
/// `short_samples`: runners without a core of their own were not wanted.
void judge(Report& report, bool short_samples = false);

}  // namespace penstock::detail
