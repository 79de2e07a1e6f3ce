#pragma once

#include <cstdint>

namespace penstock::lmdb {

/// A file that is shorter than its header says.
struct ShortFile {
  int descriptor = -1;
  std::uint64_t page_bytes = 0;
  std::uint64_t bytes = 0;        ///< that it has
  std::uint64_t last_page = 0;    ///< that the header counts
  std::uint64_t transaction = 0;  ///< whose header that is
};

/// Whether all pages that it lacks are free ones, by its own list of these, and neither of its trees has one of them.
/// LMDB does not write a page that is freed by the transaction which took it; at the file's end, the file stays short.
/// Reads the pages of both trees, not large values, so time and memory are linear in the file. False too where a tree
/// is damaged. To be asked of a file that has fewer pages than the header counts.
bool lacks_free_pages_only(const ShortFile& file) noexcept;

}  // namespace penstock::lmdb
