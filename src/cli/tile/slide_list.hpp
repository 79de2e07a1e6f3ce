// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "slides/slide_files.hpp"

namespace penstock::cli {

/// Returns the slides that a file lists. X.csv, X.tsv and X.tab have the slides' paths in a column, after a line of
/// headings. Any other file has a path per line; empty lines and lines that begin with '#' are skipped. If `column` is
/// empty, the column is the one called path, file, filename or slide_path, or else the first. A relative path is
/// relative to the list's folder; patterns work as on the command line.
/// @throws Error(not_found) if the list is missing, or names no slide; Error(corrupt) if the table is
/// malformed; UsageError if the column does not exist.
WantedSlides listed_slides(const std::string& file, const std::string& column);

}  // namespace penstock::cli
