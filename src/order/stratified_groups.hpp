// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <penstock/detail/source_model.hpp>
#include <penstock/stages/order.hpp>

#include "order/group_table.hpp"
#include "order/runs.hpp"

namespace penstock::detail {

/// What is kept of a split by group that gives each value of a field its share.
struct StratifiedGroups {
  Runs records;
  std::string said;  ///< in words, how many groups and records are kept, and which value is farthest from its share
};

/// Returns what the split keeps. `labels`: each record's value of the field `options.stratify`. See `split` for what
/// is promised about parts.
/// @throws Error(invalid_argument) if what is kept has a share above 0 but no group.
StratifiedGroups stratified_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table,
                                   std::span<const std::int64_t> labels);

}  // namespace penstock::detail
