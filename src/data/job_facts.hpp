// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/job_facts.hpp>

namespace penstock::detail {

/// Returns one line per fact: its name, a tab, and its words. REQUIRES: names and words have no tab and no end of line.
std::string lines_of(std::span<const JobFact> facts);
std::vector<JobFact> facts_in(std::string_view lines);

}  // namespace penstock::detail
