// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/file_errors.hpp"

namespace penstock::webdataset {

inline constexpr std::string_view source_name = "webdataset";

inline constexpr common::FileError error_in{source_name};
inline constexpr common::SystemError system_error{source_name};

}  // namespace penstock::webdataset
