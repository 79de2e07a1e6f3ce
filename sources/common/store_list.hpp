// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// Stores that are read one after another, like one store. The list is a JSON file, "X.json", which `penstock merge`
/// writes:
///
///     {"penstock": "stores", "version": 1, "form": "lmdb", "records": 1200, "stores": ["a.lmdb", "b.lmdb"]}
///
/// A list without a version is of version 1.
struct StoreList {
  std::string form = {};                 ///< "lmdb", "hdf5" or "tar"
  std::uint64_t records = 0;             ///< records of all stores together
  std::vector<std::string> stores = {};  ///< paths; the list's folder is put before relative paths in the list
};

/// Returns whether the path ends in ".json" and is a regular file.
bool names_store_list(const std::string& path);

/// Reads the list. @throws what `read_text` throws; Error(not_found) if there is no such file; Error(corrupt) if the
/// file is not a list, names no store, or names another list; Error(unsupported) if it is of another version;
/// Error(invalid_argument) if `form` is not empty and the
/// list's form is different.
StoreList read_store_list(const std::string& path, std::string_view form, std::string_view source);

}  // namespace penstock::common
