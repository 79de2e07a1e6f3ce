// SPDX-License-Identifier: Apache-2.0
#include "table_cache.hpp"

#include <algorithm>
#include <utility>

namespace penstock::jpeg::baseline {

template <class Table>
const Table* TableCache::get(Kept<Table>& kept, const JHUFF_TBL& table) {
  const auto found = std::find_if(kept.rbegin(), kept.rend(), [&](const auto& t) { return t->code().is_of(table); });
  if (found != kept.rend()) {
    std::rotate(std::prev(found.base()), found.base(), kept.end());
    return kept.back().get();
  }
  std::unique_ptr<const Table> made = Table::of(table);
  if (!made) return nullptr;
  if (kept.size() == most) kept.erase(kept.begin());
  kept.push_back(std::move(made));
  return kept.back().get();
}

template const DcTable* TableCache::get(Kept<DcTable>&, const JHUFF_TBL&);
template const AcTable* TableCache::get(Kept<AcTable>&, const JHUFF_TBL&);

}  // namespace penstock::jpeg::baseline
