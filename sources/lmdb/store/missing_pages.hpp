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

/// Whether all pages that it lacks are free ones, by its own list of these. LMDB does not write a page that is freed by
/// the transaction which took it; at the file's end, the file stays short. Reads that list alone, whatever the size of
/// the store. False too where the list is damaged.
bool lacks_free_pages_only(const ShortFile& file) noexcept;

}  // namespace penstock::lmdb
