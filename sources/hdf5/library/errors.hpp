// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/file_errors.hpp"

namespace penstock::hdf5 {

inline constexpr std::string_view source_name = "hdf5";
/// Ending of the files of a store that is written as shards.
inline constexpr std::string_view shard_extension = ".h5";
/// The file's attribute that names its dataset of keys.
inline constexpr const char* keys_attribute = "penstock_keys";

inline constexpr common::FileError error_in{source_name};
inline constexpr common::SystemError system_error{source_name};
inline constexpr common::WriteError write_error{source_name};

}  // namespace penstock::hdf5
