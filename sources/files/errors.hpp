// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/file_errors.hpp"

namespace penstock::files {

inline constexpr std::string_view source_name = "files";

inline constexpr common::FileError error_in{source_name};
inline constexpr common::SystemError system_error{source_name};
inline constexpr common::WriteError write_error{source_name};

}  // namespace penstock::files
