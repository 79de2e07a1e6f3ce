// SPDX-License-Identifier: Apache-2.0
#include "source/rows.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

namespace penstock::hdf5 {

namespace {

// Calls `ask` with the slab of `count` rows. An error names these rows.
template <class Ask>
void of_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum, const Ask& ask) {
  dataset.file().require_own_process();
  std::vector<std::uint64_t> at(dataset.dims().size()), extent(dataset.dims().begin(), dataset.dims().end());
  at.front() = first;
  extent.front() = count;
  try {
    ask(Slab{dataset.number(), at, extent, verify_checksum});
  } catch (const Error& failed) {
    const std::string rows = count == 1 ? "row " + std::to_string(first)
                                        : "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1);
    throw dataset.error(dataset.code_now(failed.code()), rows + " can't be read: " + failed.cause());
  }
}

}  // namespace

void read_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum,
               std::span<std::byte> out, bool lost_too) {
  if (count == 0 || out.empty()) return;
  const std::span<std::byte> rows = out.first(count * dataset.row_bytes());
  of_rows(dataset, first, count, verify_checksum, [&](Slab slab) {
    slab.lost_too = lost_too;
    dataset.access().read(slab, rows);
  });
}

void read_column_of_rows(const Dataset& dataset, std::size_t element, std::uint64_t first, std::uint64_t rows,
                         bool verify_checksum, std::span<std::byte> out) {
  if (out.empty()) return;
  of_rows(dataset, first, rows, verify_checksum,
          [&](const Slab& slab) { dataset.access().read_column(slab, element, out); });
}

void read_variable_row(const Dataset& dataset, std::size_t element, std::uint64_t row, bool verify_checksum,
                       const std::function<std::span<std::byte>(std::uint64_t length)>& memory_for) {
  std::exception_ptr refused;  // what `memory_for` threw, which is not an error of the file
  const auto noting = [&](std::uint64_t length) -> std::span<std::byte> {
    try {
      return memory_for(length);
    } catch (...) {
      refused = std::current_exception();
      return {};
    }
  };
  of_rows(dataset, row, 1, verify_checksum,
          [&](const Slab& slab) { dataset.access().read_variable(slab, element, noting); });
  if (refused) std::rethrow_exception(refused);
}

Texts read_texts_of_rows(const Dataset& dataset, std::size_t element, std::uint64_t first, std::uint64_t rows,
                         bool verify_checksum, std::uint64_t max_bytes) {
  Texts texts;
  of_rows(dataset, first, rows, verify_checksum,
          [&](const Slab& slab) { texts = dataset.access().read_texts(slab, element, max_bytes); });
  return texts;
}

void read_chunk(const Dataset& dataset, std::span<const std::uint64_t> first, bool verify_checksum,
                std::span<std::byte> out) {
  dataset.file().require_own_process();
  std::vector<std::uint64_t> extent;
  std::uint64_t bytes = dataset.element_bytes();
  for (std::size_t d = 0; d < first.size(); ++d) {
    extent.push_back(std::min(dataset.chunk()[d], dataset.dims()[d] - first[d]));
    bytes *= extent.back();
  }
  try {
    dataset.access().read({dataset.number(), first, extent, verify_checksum}, out.first(bytes));
  } catch (const Error& failed) {
    throw dataset.chunk_error(dataset.code_now(failed.code()), failed.cause(), first);
  }
}

void read_plain(const Dataset& dataset, const ChunkOffsets& offsets, std::uint64_t row, std::span<std::byte> out) {
  const std::optional<std::uint64_t> at = offsets.offset_of(dataset, row);
  if (!at) return dataset.fill(out);
  dataset.read_stored(*at, out);
}

void read_contiguous(const Dataset& dataset, std::uint64_t row, std::span<std::byte> out) {
  if (!dataset.offset()) return dataset.fill(out);
  const std::uint64_t at = *dataset.offset() + row * dataset.row_bytes();
  dataset.read_stored(at, out);
}

}  // namespace penstock::hdf5
