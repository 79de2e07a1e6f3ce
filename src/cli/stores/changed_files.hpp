// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/files.hpp>

#include "stores/store_to_write.hpp"

namespace penstock::cli {

/// Describes the differences between a folder and the finished store it was packed into: "2 files changed (a/1.jpg,
/// a/2.jpg), 1 file added (b/7.jpg)". Returns an empty text if nothing differs. A file counts as changed if its size or
/// label differs from the stored size or label, if it was written after the store, or if it can't be checked. If
/// `sizes` is false, sizes are not compared. @throws penstock::Error.
std::string changed_files(const FilesSource& files, const StoreToWrite& store, bool sizes);

/// `records`: number of records of an LMDB, finished or not. `shared`: number of these records that have the key of a
/// file in the folder.
struct SharedKeys {
  std::uint64_t shared = 0, records = 0;
};
/// Counts the shared keys. Returns zeros if the store can't be opened or read.
SharedKeys shared_keys(const FilesSource& files, const StoreToWrite& store);

}  // namespace penstock::cli
