// SPDX-License-Identifier: Apache-2.0
// Keeps the tables of the last files. Most files have the standard's tables, or those of one encoder.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "huffman_tables.hpp"

namespace penstock::jpeg::baseline {

// A decoder keeps one for all its images.
class TableCache {
 public:
  // More than a frame has of one kind, so that a frame's table is never evicted for another one of the same frame.
  static constexpr std::size_t most = 12;

  // Returns the table, and makes it if it is not kept yet. It is valid until `most` other tables were requested.
  // Returns null for a table that the baseline decoder does not take.
  const DcTable* dc(const JHUFF_TBL& table) { return get(dc_, table); }
  const AcTable* ac(const JHUFF_TBL& table) { return get(ac_, table); }

 private:
  template <class Table>
  using Kept = std::vector<std::unique_ptr<const Table>>;  // the last used table is the last one
  template <class Table>
  static const Table* get(Kept<Table>& kept, const JHUFF_TBL& table);

  Kept<DcTable> dc_;
  Kept<AcTable> ac_;
};

}  // namespace penstock::jpeg::baseline
