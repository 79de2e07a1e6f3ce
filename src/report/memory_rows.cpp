#include "report/memory_rows.hpp"

#include "base/trace.hpp"

namespace penstock::detail {

std::vector<MemoryRow> memory_rows(const Engine& engine, const RunTotals& t) {
  std::vector<MemoryRow> rows = {{"batches", t.depth, t.buffer_bytes}};
  if (t.entries != 0) rows.push_back({"samples that wait for those before them", t.entries, t.entry_bytes});
  if (t.blocks.loads != 0) rows.push_back({"blocks that records share", 1, t.blocks.peak_bytes});
  rows.push_back({"working memory of runners", t.threads, t.scratch_bytes});
  if (t.shared_records != 0) rows.push_back({"records that samples share", t.shared_records, t.shared_record_bytes});
  if (const Trace* const trace = engine.setup().trace.get(); trace != nullptr)
    rows.push_back({"timeline", 1, trace->bytes()});
  return rows;
}

}  // namespace penstock::detail
