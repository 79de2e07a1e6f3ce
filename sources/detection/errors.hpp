// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <penstock/extend/system_error.hpp>

namespace penstock::detection {

/// Returns text of a file on one line, cut after about 60 characters.
inline std::string shown(std::string_view text) { return printable(text, 60); }

}  // namespace penstock::detection
