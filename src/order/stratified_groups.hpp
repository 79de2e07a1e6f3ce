#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <penstock/detail/source_model.hpp>
#include <penstock/stages/order.hpp>

#include "order/group_table.hpp"
#include "order/runs.hpp"

namespace penstock::detail {

/// Part of a split by group that gives each value of a field its share.
struct StratifiedGroups {
  Runs records;
  std::string said;  ///< how many groups and records it has, and how near its values are to their shares
};

/// `labels` are the values of all records, for `options.stratify`. What is true of the parts stands at `split`.
/// @throws Error(invalid_argument) where the part has a share but no group, and as `for_each_group`.
StratifiedGroups stratified_groups(const SplitOptions& options, const SourceModel& source, const GroupTable& table,
                                   std::span<const std::int64_t> labels);

}  // namespace penstock::detail
