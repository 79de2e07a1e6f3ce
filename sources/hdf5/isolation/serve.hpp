// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/detail/export.hpp>

namespace penstock::hdf5 {

/// Runs the program penstock-hdf5-reader. It answers questions about one file that arrive on standard input, a socket,
/// until that is closed. Its argument is the most bytes of memory it may use. Returns its exit status.
PENSTOCK_API int serve_reader(int count, const char* const* arguments);

}  // namespace penstock::hdf5
