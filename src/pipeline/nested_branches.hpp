// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <penstock/detail/source_model.hpp>

#include "join/branches.hpp"

namespace penstock::detail {

/// Calls `visit` for each branch of the source, and after each branch for the branches inside it. `within`: name of the
/// branch that has the source, if any.
void for_each_nested_branch(const SourceModel& source, const std::function<void(const Branch&)>& visit,
                            const std::string& within = {});

}  // namespace penstock::detail
