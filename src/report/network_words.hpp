// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns whether most of the time of all reading was a wait for a network.
bool network_waits(const Report& report);

/// Says what the network brought, and estimates what more connections would bring. REQUIRES: `report.fetched`.
std::string network_words(const Report& report);

/// Returns the line of `Report::text`.
std::string fetch_text(const FetchReport& fetched);

}  // namespace penstock::detail::runtime
