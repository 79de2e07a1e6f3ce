// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/detail/export.hpp>

namespace penstock::hdf5 {

/// Runs the program penstock-hdf5-reader. The program answers questions about one file until its standard input is
/// closed. Standard input is a socket, on which questions arrive. The program's only argument is the most bytes of
/// memory that it may use. Returns an exit status only if the argument or standard input is wrong. Otherwise the
/// function ends the process and doesn't return.
PENSTOCK_API int serve_reader(int count, const char* const* arguments);

}  // namespace penstock::hdf5
