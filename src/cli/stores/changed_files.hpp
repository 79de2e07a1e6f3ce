// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/files.hpp>

#include "stores/store_to_write.hpp"

namespace penstock::cli {

/// Describes the differences between a folder and the finished store it was packed into: "2 files changed (a/1.jpg,
/// a/2.jpg), 1 file added (b/7.jpg)". Empty if nothing differs. A file has changed if its size or label differs from
/// the stored one, or its time is later than the store's. If `sizes` is false, sizes are not compared. @throws
/// penstock::Error.
std::string changed_files(const FilesSource& files, const StoreToWrite& store, bool sizes);

/// How many records of an LMDB, finished or not, have the same key as a file of the folder.
struct SharedKeys {
  std::uint64_t shared = 0, records = 0;
};
/// Counts the shared keys. Returns all 0 if no store can be opened.
SharedKeys shared_keys(const FilesSource& files, const StoreToWrite& store);

}  // namespace penstock::cli
