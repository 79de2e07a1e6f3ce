// SPDX-License-Identifier: Apache-2.0
#include "library/conversion.hpp"

#include <cmath>
#include <cstring>

namespace penstock::hdf5 {

std::string why_converted_wrong(hid_t from, hid_t to) {
  const H5T_class_t kind = H5Tget_class(to);
  if (kind != H5Tget_class(from)) return {};
  if (kind == H5T_STRING && H5Tis_variable_str(to) <= 0 && H5Tis_variable_str(from) <= 0 &&
      H5Tget_size(from) > H5Tget_size(to))
    return "its strings of " + std::to_string(H5Tget_size(from)) + " bytes would be cut to " +
           std::to_string(H5Tget_size(to));
  if (kind == H5T_ARRAY) {
    const Handle of_from = own_type(H5Tget_super(from)), of_to = own_type(H5Tget_super(to));
    return why_converted_wrong(of_from.get(), of_to.get());
  }
  const int members = kind == H5T_COMPOUND ? H5Tget_nmembers(to) : 0;
  for (int m = 0; m < members; ++m) {
    char* const name = H5Tget_member_name(to, static_cast<unsigned>(m));
    const int in_source = H5Tget_member_index(from, name);
    const std::string column = name;
    H5free_memory(name);
    if (in_source < 0) return "it has no column '" + column + "'";
    const Handle of_from = own_type(H5Tget_member_type(from, static_cast<unsigned>(in_source)));
    const Handle of_to = own_type(H5Tget_member_type(to, static_cast<unsigned>(m)));
    if (std::string why = why_converted_wrong(of_from.get(), of_to.get()); !why.empty()) return why;
  }
  return {};
}

H5T_conv_ret_t refuse_what_does_not_fit(H5T_conv_except_t what, hid_t from, hid_t to, void* value, void*, void* unfit) {
  if (what == H5T_CONV_EXCEPT_PRECISION) return H5T_CONV_UNHANDLED;
  if (H5Tget_class(to) == H5T_FLOAT) {
    // "nan" and infinite values stay what they are. The library reports an infinite double like a number that is too
    // large.
    double number = 0;
    if (H5Tget_class(from) == H5T_FLOAT && H5Tget_size(from) == sizeof number)
      std::memcpy(&number, value, sizeof number);
    const bool too_large = what == H5T_CONV_EXCEPT_RANGE_HI || what == H5T_CONV_EXCEPT_RANGE_LOW;
    if (!too_large || !std::isfinite(number)) return H5T_CONV_UNHANDLED;
  }
  *static_cast<bool*>(unfit) = true;
  return H5T_CONV_ABORT;
}

}  // namespace penstock::hdf5
