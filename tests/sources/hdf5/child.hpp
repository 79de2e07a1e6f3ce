// SPDX-License-Identifier: Apache-2.0
// A child process that opens damaged files, which may kill the HDF5 library, and who is to blame when it dies.
//
// Signals: the handler walks the stack. The innermost frame that is neither the C library's nor a sanitizer's decides:
// libhdf5's, or that of a library it decodes with, or this program's, in which Penstock is linked statically. Glibc's
// own checks of its heap abort wherever the heap is next used, so they say nothing of who spoiled it: they count as the
// library's. Under AddressSanitizer nothing is left to that guess: the first stack of its report decides.
#pragma once

#include <functional>
#include <string>

namespace penstock_test {

struct ChildEnd {
  enum class How : unsigned char {
    returned,        // `act` came back
    error,           // it threw penstock::Error: `text`
    other_error,     // it threw anything else
    killed_library,  // a signal, or a hang, in libhdf5
    killed_us,       // anywhere else
  };
  How how = How::returned;
  std::string text;  // the error, or what was written to stderr
};

// `seconds`: how long it may take before that counts as a hang.
ChildEnd in_damaged_child(const std::function<void()>& act, unsigned seconds = 20);

}  // namespace penstock_test
