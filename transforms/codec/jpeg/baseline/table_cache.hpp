// SPDX-License-Identifier: Apache-2.0
// Keeps the tables of the files that were decoded last. Most files have the JPEG standard's tables, or the tables of
// one encoder.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "huffman_tables.hpp"

namespace penstock::jpeg::baseline {

// A decoder keeps one cache for all its images.
class TableCache {
 public:
  // Largest number of tables of one kind that are kept. A frame has fewer, so a frame's table is never evicted for
  // another table of the same frame.
  static constexpr std::size_t most = 12;

  // Returns the kept table, or makes it. It is valid until `most` other tables of its kind were requested. Returns null
  // for a table that libjpeg refuses.
  const DcTable* dc(const JHUFF_TBL& table) { return get(dc_, table); }
  const AcTable* ac(const JHUFF_TBL& table) { return get(ac_, table); }

 private:
  template <class Table>
  using Kept = std::vector<std::unique_ptr<const Table>>;  // the most recently used table is at the end
  template <class Table>
  static const Table* get(Kept<Table>& kept, const JHUFF_TBL& table);

  Kept<DcTable> dc_;
  Kept<AcTable> ac_;
};

}  // namespace penstock::jpeg::baseline
