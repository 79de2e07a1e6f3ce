#pragma once

#include <string>

#include "slides/slide_files.hpp"

namespace penstock::cli {

/// The slides that a file lists: X.csv and X.tsv in a column, after a line of headings, anything else a path a line,
/// where empty lines, and those that begin with '#', are passed over. `column` may be empty: then it is the one called
/// path, file, filename or slide_path, else the first. A relative path is below the list's folder; patterns are as on
/// the command line. @throws Error(not_found) for a list that isn't there, or a pattern that fits nothing,
/// Error(corrupt) for a table that is none, UsageError for a column that there isn't.
WantedSlides listed_slides(const std::string& file, const std::string& column);

}  // namespace penstock::cli
