// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::lmdb {

/// A file that is shorter than its header specifies.
struct ShortFile {
  int descriptor = -1;
  std::uint64_t page_bytes = 0;
  std::uint64_t bytes = 0;        ///< bytes in the file
  std::uint64_t last_page = 0;    ///< last page that the header counts
  std::uint64_t transaction = 0;  ///< number of the header's transaction
};

/// Returns whether all missing pages are in the file's own list of free pages, and neither of its two trees uses a
/// missing page. LMDB does not write a page that the same transaction takes and frees. If such a page is at the file's
/// end, the file stays shorter than its header specifies. This function reads the pages of both trees, but no large
/// values of records, so its time and memory are linear in the file's size. It also returns false if a tree is damaged,
/// or if there is no memory.
/// REQUIRES: the file has fewer pages than its header counts.
bool lacks_free_pages_only(const ShortFile& file) noexcept;

}  // namespace penstock::lmdb
