#pragma once

#include <cstdint>
#include <string>

namespace penstock::lmdb {

/// Whether LMDB makes files with pages of so many bytes.
bool is_page_size(std::uint64_t bytes) noexcept;

/// Asked before anything is made beside a file: LMDB would find out after it has made its lock file. True where the
/// file can't be opened, as LMDB says why.
bool begins_as_lmdb(const std::string& file);

/// LMDB divides by the size of a page that the header gives, whatever it is. @throws Error(corrupt).
void require_page_size(const std::string& file);

}  // namespace penstock::lmdb
