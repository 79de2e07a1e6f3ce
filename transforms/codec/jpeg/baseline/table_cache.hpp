// Tables of the files that were decoded last: most files have the standard's, or those of one encoder.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "huffman_tables.hpp"

namespace penstock::jpeg::baseline {

// Kept by a decoder for all its images.
class TableCache {
 public:
  // More than a frame has of a kind, so none that a frame uses is thrown out for another one of it.
  static constexpr std::size_t most = 12;

  // The table, made where it is not kept yet. Valid until `most` others were asked for. Null for one that the baseline
  // decoder does not take.
  const DcTable* dc(const JHUFF_TBL& table) { return get(dc_, table); }
  const AcTable* ac(const JHUFF_TBL& table) { return get(ac_, table); }

 private:
  template <class Table>
  using Kept = std::vector<std::unique_ptr<const Table>>;  // the one that was used last is the last one
  template <class Table>
  static const Table* get(Kept<Table>& kept, const JHUFF_TBL& table);

  Kept<DcTable> dc_;
  Kept<AcTable> ac_;
};

}  // namespace penstock::jpeg::baseline
