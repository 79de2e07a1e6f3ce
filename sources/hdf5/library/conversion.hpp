#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Why the library, asked for values of one type as those of another, would give something else without a word: it cuts
/// strings, and makes up columns. Empty: it would not. Under the lock.
std::string why_converted_wrong(hid_t from, hid_t to);

/// For H5Pset_type_conv_cb: a value may lose digits, but not become another one. `unfit` is a bool, and true where one
/// would have.
H5T_conv_ret_t refuse_what_does_not_fit(H5T_conv_except_t what, hid_t from, hid_t to, void* value, void* made,
                                        void* unfit);

}  // namespace penstock::hdf5
