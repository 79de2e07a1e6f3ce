// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "slides/slide_files.hpp"

namespace penstock::cli {

/// Returns the slides that a file lists. X.csv, X.tsv and X.tab have the slides' paths in a column, after a line of
/// headings. Any other file has a path per line; lines that begin with '#' are skipped. Empty lines and empty cells are
/// skipped, too. If `column` is empty, uses the first column called path, file, filename or slide_path. If no column
/// has such a name, uses the first column. A relative path is relative to the list's folder. Patterns work as on the
/// command line.
/// @throws Error(not_found) if the list is missing, or names no slide; Error(corrupt) if the table is malformed.
/// @throws UsageError if the column does not exist, if `column` is set and the file is not a table, or if a table
/// begins with a slide's path instead of headings.
WantedSlides listed_slides(const std::string& file, const std::string& column);

}  // namespace penstock::cli
