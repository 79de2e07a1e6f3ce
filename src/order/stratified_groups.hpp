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
  std::string said;  ///< its numbers of groups and records, and how close its values are to their shares, in words
};

/// Returns the part. `labels`: the values of all records, for `options.stratify`. See `split` for the promises about
/// parts.
/// @throws Error(invalid_argument) if the part has a share but no group, and like `for_each_group`.
StratifiedGroups stratified_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table,
                                   std::span<const std::int64_t> labels);

}  // namespace penstock::detail
