// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <penstock/extend/system_error.hpp>

#include "common/file_errors.hpp"

namespace penstock::json {

inline constexpr std::string_view source_name = "json";

inline constexpr common::FileError error_in{source_name};

/// Returns text of a file on one line, cut after about 60 characters.
inline std::string printable(std::string_view text) { return penstock::printable(text, 60); }

}  // namespace penstock::json
