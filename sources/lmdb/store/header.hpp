// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::lmdb {

/// Returns whether `bytes` can be the size of LMDB's pages: a power of two from 512 to 65536.
bool is_page_size(std::uint64_t bytes) noexcept;

/// Returns whether a file begins like LMDB's data files. Call this before anything is created next to the file: LMDB
/// itself checks the file only after it has created its lock file. Returns true if the file can't be opened or read,
/// because LMDB will report the reason.
bool begins_as_lmdb(const std::string& file);

/// Checks the header's page size, because LMDB divides by it without a check. @throws Error(corrupt).
void require_page_size(const std::string& file);

}  // namespace penstock::lmdb
