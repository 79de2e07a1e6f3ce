// SPDX-License-Identifier: Apache-2.0
// Converts libjpeg's errors to penstock's.
#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <penstock/error.hpp>

namespace penstock::jpeg {

// Returns the current message of `common` as one line.
std::string message(j_common_ptr common);

// Returns the code for libjpeg's current message.
Errc code_of(const jpeg_error_mgr& errors);

}  // namespace penstock::jpeg
