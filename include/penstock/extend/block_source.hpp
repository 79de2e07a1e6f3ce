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

/// A block that is nothing but the values of one field, of records that follow each other, which each record gives as
/// they are. A record reads no row of it but its own: the others may be changed meanwhile.
struct BlockRows {
  std::size_t field = 0;                 ///< its slot in the schema
  std::uint64_t first = 0, records = 0;  ///< the block has so many values, one right after the other, and nothing
                                         ///< else: all of records that are there. So a last block that is decoded
                                         ///< whole, beyond the source's last record, is none
};

/// Records that share something which is decoded once: a compressed chunk, a tile of a slide. A loader decodes each
/// block once while it keeps it, and keeps as many as `LoaderOptions::max_block_bytes` allows.
///
///     std::uint64_t size() const;                          number of records
///     Schema schema() const;                               of every record
///     std::uint64_t blocks() const;                        number of blocks
///     std::uint64_t block_bytes(std::uint64_t b) const;    what block b is decoded into
///     void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const;
///                                                          appends the blocks that record i needs
///     void load(std::uint64_t b, std::span<std::byte> bytes) const;
///                                                          decodes block b
///     void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;
///                                                          makes the record of its blocks, in the order of
///                                                          `blocks_of`; may give views into them, and promise images
///                                                          that refer to them
///
/// where it makes sense
///
///     std::optional<BlockRows> rows_of(std::uint64_t b) const;
///                                                          block b is made of rows, or of one field's at least: a
///                                                          loader may then have it decoded right into a batch
///     bool can_do_without(std::uint64_t b) const;          in place of block b `read` may be given an empty span, and
///                                                          then decodes what it needs of it itself, to the same
///                                                          values. For blocks of which a record needs a part that is
///                                                          cheaper than the whole. Such a block is loaded where
///                                                          memory for blocks is free, or where it is needed twice
///                                                          more, and sooner than the blocks that would have to make
///                                                          room; a record that is read outside of a loader's plan
///                                                          (for a bad one, by `Pipeline::at`, for its label) gets
///                                                          none
///
/// and the optional members of a `Source`. All of them from any thread at any time; `blocks_of` and `block_bytes` are
/// asked long before a record is read, and are quick. What `load` throws is an error of each record that needs the
/// block; of one that it can do without, what `read` says of its part counts.
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

/// One record, copied out. For tests and tools; loads its blocks each time.
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
