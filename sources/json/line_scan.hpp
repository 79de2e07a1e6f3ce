// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "common/lines/line_index.hpp"

namespace penstock::json {

/// Finds the lines of a file that are not empty: each is a record. Reads the file once, a few MB at a time.
/// @throws Error(not_found | io); Error(unsupported) for UTF-16; Error(limit_exceeded), with the line, if a line has
/// more than `max_record_bytes`.
common::LineIndex index_lines(const std::string& path, std::size_t max_record_bytes);

}  // namespace penstock::json
