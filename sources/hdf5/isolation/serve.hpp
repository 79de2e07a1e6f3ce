#pragma once

#include <penstock/detail/export.hpp>

namespace penstock::hdf5 {

/// All that the program penstock-hdf5-reader does: answers questions about one file that come in on standard input, a
/// socket, until that is closed. Its argument is how many bytes of memory it may take. Returns its exit status.
PENSTOCK_API int serve_reader(int count, const char* const* arguments);

}  // namespace penstock::hdf5
