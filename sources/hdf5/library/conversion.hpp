// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Returns why the library would silently return wrong values if it converted `from` to `to`; empty if it would not.
/// The library cuts strings that are too long, and invents columns that are missing. Call under the lock.
std::string why_converted_wrong(hid_t from, hid_t to);

/// Callback for H5Pset_type_conv_cb: a value may lose digits, but must not change otherwise. `unfit` points to a bool,
/// which the callback sets to true if a value does not fit.
H5T_conv_ret_t refuse_what_does_not_fit(H5T_conv_except_t what, hid_t from, hid_t to, void* value, void* made,
                                        void* unfit);

}  // namespace penstock::hdf5
