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

/// A part of a split by group that gives each value of a field its share.
struct StratifiedGroups {
  Runs records;
  std::string said;  ///< in words, how many groups and records the part has, and which value is farthest from its share
};

/// Returns the part `options.part`. `labels`: each record's value of the field `options.stratify`. See `split` for what
/// is promised about parts.
/// @throws Error(invalid_argument) if the part has a share above 0 but no group.
StratifiedGroups stratified_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table,
                                   std::span<const std::int64_t> labels);

}  // namespace penstock::detail
