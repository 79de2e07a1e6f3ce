#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// Stores that are read as one, in this order: a text file of JSON, "X.json", which `penstock merge` writes:
///
///     {"penstock": "stores", "form": "lmdb", "records": 1200, "stores": ["a.lmdb", "b.lmdb"]}
struct StoreList {
  std::string form = {};                 ///< "lmdb", "hdf5" or "tar"
  std::uint64_t records = 0;             ///< records of all stores together
  std::vector<std::string> stores = {};  ///< paths; in the file those that are relative are below its folder
};

/// Whether the path is that of a list, by its name and by being a file.
bool names_store_list(const std::string& path);

/// @throws Error(not_found | io); Error(corrupt) for what is no list, Error(invalid_argument) for one of another form
/// than `form`, where that is not empty.
StoreList read_store_list(const std::string& path, std::string_view form, std::string_view source);

}  // namespace penstock::common
