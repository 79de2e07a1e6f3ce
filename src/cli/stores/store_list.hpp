// SPDX-License-Identifier: Apache-2.0
// Several stores that are read as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cli {

/// A list of stores in the format that the sources read: `form` is lmdb, hdf5 or tar, and stores are paths.
struct StoreList {
  std::string form = {};
  std::uint64_t records = 0;
  std::vector<std::string> stores = {};
};

bool names_list(const std::string& path);
/// Returns the form of the stores in a list; empty if the file is not a list.
std::string form_of_list(const std::string& path);
/// Writes the list. Paths become relative to the list's folder, so that everything can be moved together.
void write_list(const StoreList& list, const std::string& path);

}  // namespace penstock::cli
