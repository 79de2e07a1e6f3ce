// SPDX-License-Identifier: Apache-2.0
#include "source/chunk_block.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "source/find_chunk.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

using Dims = std::array<std::uint64_t, H5S_MAX_RANK>;

// Copies the elements of a chunk to their places in the block, except elements beyond the dataset's end.
void place(const Dataset& dataset, std::span<const std::uint64_t> first, std::span<const std::byte> chunk,
           std::span<std::byte> block) {
  const std::span<const std::uint64_t> dims = dataset.dims(), size = dataset.chunk();
  const std::size_t rank = dims.size();
  // `in_chunk`, `in_block`: bytes from one index of a dimension to the next. `extent`: how many indices are copied.
  Dims extent{}, in_chunk{}, in_block{};
  in_chunk[rank - 1] = in_block[rank - 1] = dataset.element_bytes();
  for (std::size_t d = rank - 1; d > 0; --d) {
    in_chunk[d - 1] = in_chunk[d] * size[d];
    in_block[d - 1] = in_block[d] * dims[d];
  }
  std::uint64_t to = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    extent[d] = std::min(size[d], dims[d] - first[d]);
    if (d > 0) to += first[d] * in_block[d];
  }
  // The last dimensions in which a chunk is as long as the dataset, and the dimension before them, are copied together.
  std::size_t outer = rank - 1;
  while (outer > 0 && size[outer] == dims[outer]) --outer;
  const std::uint64_t run = extent[outer] * in_chunk[outer];
  std::uint64_t from = 0;
  Dims at{};
  while (true) {
    std::memcpy(block.data() + to, chunk.data() + from, run);
    std::size_t d = outer;
    for (; d > 0; --d) {
      from += in_chunk[d - 1];
      to += in_block[d - 1];
      if (++at[d - 1] < extent[d - 1]) break;
      from -= extent[d - 1] * in_chunk[d - 1];
      to -= extent[d - 1] * in_block[d - 1];
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

bool reaches_over_the_end(const Dataset& dataset, std::span<const std::uint64_t> first) {
  for (std::size_t d = 0; d < first.size(); ++d)
    if (first[d] + dataset.chunk()[d] > dataset.dims()[d]) return true;
  return false;
}

void decode_chunk(const Dataset& dataset, std::span<const std::uint64_t> first, bool verify_checksum,
                  Workspace& workspace, std::span<std::byte> out) {
  std::optional<StoredChunk> chunk = find_chunk(dataset, first);
  if (!chunk) return dataset.fill(out);
  if (dataset.plain_edges() && reaches_over_the_end(dataset, first)) chunk->mask = ~std::uint32_t{0};
  // No known filter makes a chunk much larger. So if a stored chunk is much larger than the decoded chunk, the file is
  // damaged. Reading such a chunk could take as much memory as the file has bytes.
  if (chunk->bytes > 2 * out.size() + 4096)
    throw dataset.chunk_error(Errc::corrupt,
                              "it has " + std::to_string(chunk->bytes) + " bytes as it is stored, too many for its " +
                                  std::to_string(out.size()),
                              first, chunk->offset);
  const bool plain = dataset.filters().empty() && chunk->bytes == out.size();
  const std::span<std::byte> stored = plain ? out : workspace.stored.take(chunk->bytes);
  dataset.read_stored(chunk->offset, stored, first);
  if (plain) return;
  const std::string wrong = undo_filters(dataset.filters(), chunk->mask, stored, out, verify_checksum, workspace);
  if (!wrong.empty()) throw dataset.chunk_error(Errc::corrupt, wrong, first, chunk->offset);
}

// Calls `act` for each chunk that begins at the row, with the coordinates of the chunk's first element.
void for_each_chunk(const Dataset& dataset, std::uint64_t row, auto&& act) {
  const std::size_t rank = dataset.dims().size();
  Dims first{};
  first[0] = row;
  while (true) {
    act(std::span<const std::uint64_t>(first.data(), rank));
    std::size_t d = rank - 1;
    for (; d > 0; --d) {
      first[d] += dataset.chunk()[d];
      if (first[d] < dataset.dims()[d]) break;
      first[d] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace

std::uint64_t block_count(const Dataset& dataset) noexcept {
  const std::uint64_t rows = dataset.chunk().front();
  return dataset.rows() / rows + (dataset.rows() % rows != 0 ? 1 : 0);
}

std::size_t block_bytes(const Dataset& dataset) noexcept { return dataset.chunk().front() * dataset.row_bytes(); }

void load_block(const Dataset& dataset, std::uint64_t block, bool verify_checksum, Workspaces& workspaces,
                std::span<std::byte> out) {
  dataset.file().require_own_process();
  const std::span<const std::uint64_t> dims = dataset.dims(), chunk = dataset.chunk();
  const std::uint64_t row = block * chunk.front(), rows = std::min(chunk.front(), dataset.rows() - row);
  if (out.empty()) return;
  const bool whole_rows = std::equal(dims.begin() + 1, dims.end(), chunk.begin() + 1);
  if (const std::span<std::byte> after = out.subspan(rows * dataset.row_bytes()); !after.empty())
    std::fill(after.begin(), after.end(), std::byte{0});
  if (dataset.way_unkept() == Hdf5Way::library) {
    try {
      return read_rows(dataset, row, rows, verify_checksum, out);
    } catch (const Error&) {
      // Reads each chunk by itself, so that the error names the bad chunk.
      std::vector<std::byte> tile(dataset.chunk_bytes());
      for_each_chunk(dataset, row,
                     [&](std::span<const std::uint64_t> first) { read_chunk(dataset, first, verify_checksum, tile); });
      throw;
    }
  }

  const Workspaces::Lease lease(workspaces);
  const std::span<std::byte> tile = whole_rows ? out : (*lease).tile.take(dataset.chunk_bytes());
  for_each_chunk(dataset, row, [&](std::span<const std::uint64_t> first) {
    decode_chunk(dataset, first, verify_checksum, *lease, tile);
    if (!whole_rows) place(dataset, first, tile, out);
  });
}

std::uint64_t read_block_ahead(const Dataset& dataset, std::uint64_t block) {
  std::uint64_t asked = 0;
  for_each_chunk(dataset, block * dataset.chunk().front(), [&](std::span<const std::uint64_t> first) {
    if (const auto chunk = find_chunk(dataset, first))
      asked += dataset.file().will_read(chunk->offset, chunk->bytes) ? 1 : 0;
  });
  return asked;
}

}  // namespace penstock::hdf5
