#pragma once

#include <string_view>

namespace penstock::files {

/// The table that FilesSink writes beside the files. Its mark, while it is unfinished, has this name and an ending.
inline constexpr std::string_view table_name = "records.csv";
/// The mark of an unfinished folder, `ShardNames::mark` of the table.
inline constexpr std::string_view mark_name = "records.csv-unfinished.json";
/// What stays beside it, `ShardNames::made_by` of the table.
inline constexpr std::string_view made_by_name = "records.csv-made-by.json";

/// A file of that name in a finished folder is FilesSink's own, and no record.
inline bool is_of_sink(std::string_view name) noexcept { return name == table_name || name == made_by_name; }

}  // namespace penstock::files
