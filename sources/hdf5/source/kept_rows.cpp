#include "source/kept_rows.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "source/chunk_block.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

// Between rows that are lost; each is read by itself, and each read costs as much as the dataset has sources.
constexpr std::size_t most_stretches = 1024;

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

// All but the rows that are lost; gives those that were not read.
std::vector<KeptRows::Stretch> read_between(const Dataset& dataset, bool verify_checksum, std::span<std::byte> all) {
  const std::vector<std::uint64_t>& lost = dataset.others().lost;
  if (lost.size() / 2 > most_stretches) throw Error(Errc::corrupt, "too many of its rows are lost");
  std::vector<KeptRows::Stretch> missing;
  std::uint64_t row = 0;
  const auto miss = [&](std::uint64_t end) {
    if (row < end) missing.push_back({row, end});
    row = std::max(row, end);
  };
  const auto read = [&](std::uint64_t end) {
    if (row >= end) return;
    try {
      read_rows(dataset, row, end - row, verify_checksum, all.subspan(row * dataset.row_bytes()));
    } catch (const Error&) {
      return miss(end);
    }
    row = end;
  };
  for (std::size_t i = 0; i + 1 < lost.size(); i += 2) {
    read(std::min(lost[i], dataset.rows()));
    miss(std::min(lost[i + 1], dataset.rows()));
  }
  read(dataset.rows());
  return missing;
}

}  // namespace

bool KeptRows::has(std::uint64_t first, std::uint64_t count) const noexcept {
  const auto missing = std::ranges::upper_bound(missing_, first, {}, &Stretch::end);
  return missing == missing_.end() || missing->first >= first + count;
}

const std::byte* KeptRows::get(const Dataset& dataset, bool verify_checksum, std::uint64_t first, std::uint64_t count) {
  if (const std::byte* rows = ready_.load(std::memory_order_acquire)) return has(first, count) ? rows : nullptr;
  if (failed_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (const std::byte* rows = ready_.load(std::memory_order_relaxed)) return has(first, count) ? rows : nullptr;
  try {
    std::vector<std::byte> all(dataset.rows() * dataset.row_bytes());
    const std::vector<std::uint64_t>& lost = dataset.others().lost;
    if (lost.empty())
      read_all(dataset, verify_checksum, all);
    else
      missing_ = read_between(dataset, verify_checksum, all);
    rows_ = std::move(all);
  } catch (const Error&) {
    failed_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  static constexpr std::byte nothing{};
  const std::byte* rows = rows_.empty() ? &nothing : rows_.data();
  ready_.store(rows, std::memory_order_release);
  return has(first, count) ? rows : nullptr;
}

}  // namespace penstock::hdf5
