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
  std::uint64_t transaction = 0;  ///< the transaction of that header
};

/// Returns whether all missing pages are free ones, by the file's own list, and neither of its trees uses one. LMDB
/// does not write a page that the same transaction takes and frees; if the page is at the file's end, the file stays
/// short. Reads the pages of both trees, not large values, so time and memory are linear in the file. Returns false
/// also if a tree is damaged. Call only if the file has fewer pages than its header counts.
bool lacks_free_pages_only(const ShortFile& file) noexcept;

}  // namespace penstock::lmdb
