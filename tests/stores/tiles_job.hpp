// SPDX-License-Identifier: Apache-2.0
// A slide that is cut into a store: its tiles are copied, and those at an edge encoded.
#pragma once

#include "store_jobs.hpp"

namespace penstock_test {

// Places of 32 px of a slide, so many pixels of which they have in common with the next, into a store of LMDB. Bad ones
// are left out: how many.
std::uint64_t cut(const std::string& slide, const std::string& store, std::int32_t overlap, const HowToWrite& how);

StoreJob tiles_job();

}  // namespace penstock_test
