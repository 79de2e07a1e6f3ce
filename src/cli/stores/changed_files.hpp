#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/files.hpp>

#include "stores/destination.hpp"

namespace penstock::cli {

/// What differs between a folder and the finished store it was packed into, in words: "2 files changed (a/1.jpg,
/// a/2.jpg), 1 added (b/7.jpg)"; empty where nothing does. A file has changed where its size or label is another than
/// the stored one, or its time is later than the store's. `sizes` false: these are not to be compared.
/// @throws penstock::Error.
std::string changed_files(const FilesSource& files, const Destination& store, bool sizes);

/// How many records of an LMDB, finished or not, have a key that a file of the folder has too.
struct SharedKeys {
  std::uint64_t shared = 0, records = 0;
};
/// All 0 where there is no store that can be opened.
SharedKeys shared_keys(const FilesSource& files, const Destination& store);

}  // namespace penstock::cli
