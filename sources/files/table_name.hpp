#pragma once

#include <string_view>

namespace penstock::files {

/// The table that FilesSink writes beside the files. Its mark, while it is unfinished, has this name and an ending.
inline constexpr std::string_view table_name = "records.csv";
/// The mark of an unfinished folder, `ShardNames::mark` of the table.
inline constexpr std::string_view mark_name = "records.csv-unfinished.json";

}  // namespace penstock::files
