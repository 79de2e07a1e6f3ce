// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// Stores that are read as one, in this order. The list is a JSON file, "X.json", which `penstock merge` writes:
///
///     {"penstock": "stores", "form": "lmdb", "records": 1200, "stores": ["a.lmdb", "b.lmdb"]}
struct StoreList {
  std::string form = {};                 ///< "lmdb", "hdf5" or "tar"
  std::uint64_t records = 0;             ///< records of all stores together
  std::vector<std::string> stores = {};  ///< paths; in the file, relative ones are relative to its folder
};

/// Returns whether the path is a list, by its name and by being a file.
bool names_store_list(const std::string& path);

/// @throws Error(not_found | io); Error(corrupt) if it is not a list; Error(invalid_argument) if its form is not
/// `form`, unless that is empty.
StoreList read_store_list(const std::string& path, std::string_view form, std::string_view source);

}  // namespace penstock::common
