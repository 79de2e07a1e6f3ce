// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/sources/json_lines.hpp>

#include "common/lines/line_index.hpp"

namespace penstock::json {

/// Returns the fields that the first records show, in the order in which their members come first. Adds to `notes`
/// which members are not fields, and why. @throws the Errors of JsonLinesSource.
std::vector<JsonField> find_fields(const JsonLines& options, const std::vector<std::string>& files,
                                   const std::vector<common::LineIndex>& indices, std::vector<std::string>& notes);

}  // namespace penstock::json
