#include <new>

#include "chunk_block.hpp"
#include "rows.hpp"
#include "store.hpp"

namespace penstock::hdf5 {

const std::byte* KeptRows::get(const Dataset& dataset, bool verify_checksum) {
  if (const std::byte* rows = ready_.load(std::memory_order_acquire)) return rows;
  if (failed_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (const std::byte* rows = ready_.load(std::memory_order_relaxed)) return rows;
  try {
    std::vector<std::byte> all(dataset.rows() * dataset.row_bytes());
    if (dataset.way_unkept() == Hdf5Way::contiguous && dataset.offset()) {
      dataset.read_stored(*dataset.offset(), all);
    } else {
      read_rows(dataset, 0, dataset.rows(), verify_checksum, all);
    }
    rows_ = std::move(all);
  } catch (const Error&) {
    failed_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  static constexpr std::byte nothing{};
  const std::byte* rows = rows_.empty() ? &nothing : rows_.data();
  ready_.store(rows, std::memory_order_release);
  return rows;
}

}  // namespace penstock::hdf5
