// libjpeg's errors as ours.
#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <penstock/error.hpp>

namespace penstock::jpeg {

// The current message of `common`, as one line.
std::string message(j_common_ptr common);

// What kind of error libjpeg's current message is.
Errc code_of(const jpeg_error_mgr& errors);

}  // namespace penstock::jpeg
