// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/extend/memory_ahead.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>

namespace penstock {

/// A block that consists only of the values that one field has in consecutive records. `read` gives a record's value
/// unchanged, and reads only that record's row of the block. Other threads may change the other rows at the same time.
struct BlockRows {
  /// Slot of the field in the schema.
  std::size_t field = 0;
  /// `first`: number of the block's first record. `records`: number of the block's values, one per record, without
  /// gaps. All these records exist. So a last block that is decoded whole, with room for more records than are left,
  /// has no BlockRows.
  std::uint64_t first = 0, records = 0;
};

/// How much of a run's future a source of blocks wants to know. See `BlockSource`.
struct BlocksAhead {
  /// The most blocks that one loader announces at a time. Blocks that its samples in work need do not count.
  std::uint64_t blocks = 0;
  /// No further block is announced while the announced blocks have this many bytes, as `block_bytes` counts them.
  std::uint64_t bytes = 0;
};

/// A source whose records share blocks: compressed chunks, tiles of a slide. A loader keeps decoded blocks, as many as
/// `LoaderOptions::max_block_bytes` allows. While the loader keeps a block, it does not decode the block again. A
/// source of blocks has
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
///         Appends the numbers of the blocks that record i needs.
///     void load(std::uint64_t b, std::span<std::byte> bytes) const;
///         Decodes block b into `bytes`.
///     void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;
///         Makes record i from its blocks, which are in the order of `blocks_of`. `read` may give views into the
///         blocks, and promise images that refer to the blocks.
///
/// and may have
///
///     std::optional<BlockRows> rows_of(std::uint64_t b) const;
///         The rows of block b, if it consists only of rows of one field. A loader may then decode it directly into a
///         batch.
///     bool can_do_without(std::uint64_t b) const;
///         Whether `read` accepts an empty span instead of block b. `read` then decodes only the part that the record
///         needs, to the same values. This is for blocks of which a part is cheaper to decode than the whole. A loader
///         loads block b in two cases: memory for blocks is free; or the loader knows two more uses of the block, and
///         the next one is sooner than the next use of the blocks that would have to make room. A record that is read
///         outside a loader's plan (in place of a bad record, by `Pipeline::at`, or for its label) gets an empty span.
///
///     BlocksAhead blocks_ahead() const;
///     void will_load(std::span<const std::uint64_t> blocks) const noexcept;
///     void will_not_load(std::span<const std::uint64_t> blocks) const noexcept;
///         For a source that fetches blocks from far away. `will_load` announces blocks that are not in memory, in the
///         order of their first uses. Each announcement ends with one call: `load`, or `will_not_load` if the loader
///         begins elsewhere, ends, or can do without the block. Several loaders may announce the same block. `load` may
///         be called without an announcement, and may end another one than the loader meant. These members must be
///         quick, because one thread announces and issues samples. A source has all three or none.
///
///     MemoryAhead take_memory(std::size_t most) const;
///         For a source that keeps announced blocks in memory of its own until they are loaded. Each loader offers a
///         quarter of its memory for blocks. The source takes up to `most` bytes, and may then keep that much more. The
///         loader keeps as much less, so both together stay within its limit.
///
///     std::shared_ptr<const std::byte> lend(std::uint64_t b) const;
///         For a source that has blocks in memory of its own. Called in place of `load`, and counts as one: returns the
///         block's bytes, which stay unchanged as long as any copy of the pointer exists. This saves a copy. Null: the
///         loader calls `load`. The loader counts these bytes like those of other blocks.
///
/// and the optional members of a `Source`. Any thread calls all these members at any time. `blocks_of` and
/// `block_bytes` are called long before a record is read, and must be quick. An exception of `load` is an error of each
/// record that needs the block. A record that can do without the block fails only if `read` throws.
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
  requires(!Source<S>)
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
