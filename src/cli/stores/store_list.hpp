// Stores that are read as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::cli {

/// A list of stores, as the sources read it: `form` is lmdb, hdf5 or tar, and stores are paths.
struct StoreList {
  std::string form = {};
  std::uint64_t records = 0;
  std::vector<std::string> stores = {};
};

bool names_list(const std::string& path);
/// The form of the stores in a list; empty for a file that is none.
std::string form_of_list(const std::string& path);
/// Paths become relative to the list's folder, so that all can be moved together.
void write_list(const StoreList& list, const std::string& path);

}  // namespace penstock::cli
