// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace penstock::files {

/// The table that FilesSink writes next to the files. The mark of an unfinished folder has this name plus an ending.
inline constexpr std::string_view table_name = "records.csv";
/// The mark of an unfinished folder, `ShardNames::mark` of the table.
inline constexpr std::string_view mark_name = "records.csv-unfinished.json";
/// The file that records what made a finished folder, `ShardNames::made_by` of the table.
inline constexpr std::string_view made_by_name = "records.csv-made-by.json";

/// Returns whether a file of that name in a finished folder is FilesSink's own, and so not a record.
inline bool is_of_sink(std::string_view name) noexcept { return name == table_name || name == made_by_name; }

}  // namespace penstock::files
