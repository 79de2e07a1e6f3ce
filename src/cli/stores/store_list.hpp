// SPDX-License-Identifier: Apache-2.0
// Several stores that are read as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cli {

/// A list of stores that the sources read like one store. `form` is lmdb, hdf5 or tar. `stores` are paths.
struct StoreList {
  std::string form = {};
  std::uint64_t records = 0;
  std::vector<std::string> stores = {};
};

bool names_list(const std::string& path);
/// Returns whether the file may be a list, as its beginning shows. Other files of JSON may be too large to parse.
bool begins_as_list(const std::string& path);
/// Returns whether the file is a list, of any version.
bool is_list(const std::string& path);
/// Returns the form of the stores in a list. Returns an empty text if the file is not a list.
/// @throws Error(unsupported) if the list is of another version.
std::string form_of_list(const std::string& path);
/// Writes the list to the file `path`. In the file, the stores' paths are relative to the file's folder, so that the
/// list and the stores can be moved together.
void write_list(const StoreList& list, const std::string& path);

}  // namespace penstock::cli
