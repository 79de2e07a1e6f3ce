// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>

namespace penstock {

/// A block that consists only of the values of one field, of consecutive records, which each record gives unchanged. A
/// record reads only its own row. The other rows may be changed while it does.
struct BlockRows {
  /// Slot of the field in the schema.
  std::size_t field = 0;
  /// The block has exactly `records` values, one right after the other, all of records that exist. So a last block that
  /// is decoded whole, beyond the source's last record, has no BlockRows.
  std::uint64_t first = 0, records = 0;
};

/// Records that share something that is decoded once: a compressed chunk, a tile of a slide. A loader decodes a block
/// once for as long as it keeps it. It keeps as many blocks as `LoaderOptions::max_block_bytes` allows. A source has
///
///     std::uint64_t size() const;
///         Number of records.
///     Schema schema() const;
///         Fields of every record.
///     std::uint64_t blocks() const;
///         Number of blocks.
///     std::uint64_t block_bytes(std::uint64_t b) const;
///         Bytes of block b after decoding.
///     void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const;
///         Appends the blocks that record i needs.
///     void load(std::uint64_t b, std::span<std::byte> bytes) const;
///         Decodes block b.
///     void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;
///         Makes record i of its blocks, which are in the order of `blocks_of`. It may give views into them, and
///         promise images that refer to them.
///
/// and may have
///
///     std::optional<BlockRows> rows_of(std::uint64_t b) const;
///         The rows of block b, if it consists only of rows of one field. A loader may then decode it directly into a
///         batch.
///     bool can_do_without(std::uint64_t b) const;
///         Whether `read` accepts an empty span instead of block b. It then decodes the part that it needs by itself,
///         to the same values. For blocks of which a record needs a part that is cheaper than the whole. Such a block
///         is loaded in two cases: memory for blocks is free; or two more uses of the block are known, and the next one
///         is sooner than those of the blocks that would have to make room. A record that is read outside a loader's
///         plan (in place of a bad record, by `Pipeline::at`, for its label) gets no such block.
///
/// and the optional members of a `Source`. Any thread calls all of them at any time. `blocks_of` and `block_bytes` are
/// called long before a record is read, and must be quick. What `load` throws is an error of each record that needs the
/// block. If the record can do without the block, only what `read` throws counts.
template <class S>
concept BlockSource = Described<S> &&
    requires(const S& source, std::uint64_t i, std::span<std::byte> bytes,
             std::span<const std::span<const std::byte>> blocks, std::vector<std::uint64_t>& ids, SampleBuilder& out) {
  { source.blocks() } -> std::convertible_to<std::uint64_t>;
  { source.block_bytes(i) } -> std::convertible_to<std::uint64_t>;
  { source.blocks_of(i, ids) } -> std::same_as<void>;
  { source.load(i, bytes) } -> std::same_as<void>;
  { source.read(i, blocks, out) } -> std::same_as<void>;
};

/// Returns a copy of one record. For tests and tools: loads the record's blocks on each call.
template <BlockSource S>
OwnedSample read_sample(const S& source, std::uint64_t index) {
  std::vector<std::uint64_t> ids;
  source.blocks_of(index, ids);
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::span<const std::byte>> blocks;
  for (const std::uint64_t id : ids) source.load(id, bytes.emplace_back(source.block_bytes(id)));
  blocks.assign(bytes.begin(), bytes.end());
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  source.read(index, blocks, out);
  sample.keep();
  return sample;
}

}  // namespace penstock
