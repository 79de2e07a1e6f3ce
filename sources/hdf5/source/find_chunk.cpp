// SPDX-License-Identifier: Apache-2.0
#include "source/find_chunk.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "source/chunk_block.hpp"

namespace penstock::hdf5 {

std::optional<StoredChunk> find_chunk(const Dataset& dataset, std::span<const std::uint64_t> first) {
  std::optional<StoredChunk> chunk;
  try {
    chunk = dataset.access().find_chunk(dataset.number(), first);
  } catch (const Error& failed) {
    throw dataset.chunk_error(dataset.code_now(failed.code()), failed.cause(), first);
  }
  if (!chunk) return std::nullopt;
  const std::uint64_t end = dataset.file().bytes();
  if (chunk->offset > end || chunk->bytes > end - chunk->offset)
    throw dataset.chunk_error(dataset.code_now(Errc::corrupt),
                              "it should have " + std::to_string(chunk->bytes) + " bytes from " +
                                  std::to_string(chunk->offset) + " on, but the file ends at " + std::to_string(end),
                              first);
  return chunk;
}

namespace {

constexpr std::uint64_t max_known = std::uint64_t{1} << 24;  // offsets of that many chunks take 128 MiB
constexpr std::uint64_t unknown = 0, unwritten = 1, first_offset = 2;

}  // namespace

ChunkOffsets::ChunkOffsets(const Dataset& dataset) : chunks_(block_count(dataset)) {
  // A written chunk has at least one byte. So if there are more chunks than bytes in the file, some chunks were never
  // written. Offsets are then not stored, because they would take more memory than the file has bytes.
  if (chunks_ <= std::min(max_known, dataset.file().bytes()))
    known_ = std::make_unique<std::atomic<std::uint64_t>[]>(chunks_);
}

std::optional<std::uint64_t> ChunkOffsets::offset_of(const Dataset& dataset, std::uint64_t row) const {
  const std::uint64_t rows = dataset.chunk().front(), chunk = row / rows;
  std::uint64_t known = known_ ? known_[chunk].load(std::memory_order_relaxed) : unknown;
  if (known == unknown) {
    std::array<std::uint64_t, H5S_MAX_RANK> first{};
    first[0] = chunk * rows;
    const std::span<const std::uint64_t> at(first.data(), dataset.dims().size());
    const std::optional<StoredChunk> stored = find_chunk(dataset, at);
    if (stored && stored->bytes != dataset.chunk_bytes())
      throw dataset.chunk_error(
          Errc::corrupt,
          "it has " + std::to_string(stored->bytes) + " bytes instead of " + std::to_string(dataset.chunk_bytes()), at,
          stored->offset);
    known = stored ? first_offset + stored->offset : unwritten;
    if (known_) known_[chunk].store(known, std::memory_order_relaxed);
  }
  if (known == unwritten) return std::nullopt;
  return known - first_offset + (row - chunk * rows) * dataset.row_bytes();
}

}  // namespace penstock::hdf5
