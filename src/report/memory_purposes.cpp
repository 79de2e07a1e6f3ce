// SPDX-License-Identifier: Apache-2.0
#include "report/memory_purposes.hpp"

#include "base/trace.hpp"

namespace penstock::detail::runtime {

std::vector<MemoryPurpose> memory_purposes(const Engine& engine, const RunTotals& t) {
  const MemoryTotals& m = t.memory;
  std::vector<MemoryPurpose> rows = {{"batches", m.depth, m.buffer_bytes}};
  if (m.entries != 0) rows.push_back({"samples that wait for those before them", m.entries, m.entry_bytes});
  if (t.blocks.loads != 0) rows.push_back({"blocks that records share", 1, t.blocks.peak_bytes});
  if (t.blocks.taken_bytes != 0) rows.push_back({"blocks that arrive early, at most", 1, t.blocks.taken_bytes});
  rows.push_back({"working memory of runners", t.threads, m.scratch_bytes});
  if (m.shared_records != 0) rows.push_back({"records that samples share", m.shared_records, m.shared_record_bytes});
  if (const Trace* const trace = engine.setup().trace.get(); trace != nullptr)
    rows.push_back({"timeline", 1, trace->bytes()});
  return rows;
}

}  // namespace penstock::detail::runtime
