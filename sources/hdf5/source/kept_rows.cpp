#include "source/kept_rows.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "source/chunk_block.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

// The way the rows of a larger dataset go, so that what is damaged is the same.
void read_all(const Dataset& dataset, bool verify_checksum, std::span<std::byte> all) {
  switch (dataset.way_unkept()) {
    case Hdf5Way::contiguous:
      if (dataset.offset()) return dataset.read_stored(*dataset.offset(), all);
      return dataset.fill(all);
    case Hdf5Way::chunks:
    case Hdf5Way::library: {
      Workspaces workspaces;
      const std::size_t bytes = block_bytes(dataset);
      std::vector<std::byte> last;
      for (std::uint64_t b = 0, blocks = bytes == 0 ? 0 : block_count(dataset); b < blocks; ++b) {
        const std::span<std::byte> rest = all.subspan(b * bytes);
        if (rest.size() >= bytes) {
          load_block(dataset, b, verify_checksum, workspaces, rest.first(bytes));
          continue;
        }
        last.resize(bytes);
        load_block(dataset, b, verify_checksum, workspaces, last);
        std::copy_n(last.begin(), rest.size(), rest.begin());
      }
      return;
    }
    default:
      return read_rows(dataset, 0, dataset.rows(), verify_checksum, all);
  }
}

}  // namespace

const std::byte* KeptRows::get(const Dataset& dataset, bool verify_checksum) {
  if (const std::byte* rows = ready_.load(std::memory_order_acquire)) return rows;
  if (failed_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (const std::byte* rows = ready_.load(std::memory_order_relaxed)) return rows;
  try {
    std::vector<std::byte> all(dataset.rows() * dataset.row_bytes());
    read_all(dataset, verify_checksum, all);
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
