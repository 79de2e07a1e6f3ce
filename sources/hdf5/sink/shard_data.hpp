// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>

#include "sink/chunk_work.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

/// Where a chunk is stored.
struct WrittenChunk {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t mask = 0;  ///< bit n: filter n was not applied
};

/// Where the chunks and heap collections of a dataset are. The index is the number of the chunk or collection.
struct WrittenBlocks {
  std::vector<WrittenChunk> chunks;
  std::vector<std::uint64_t> heaps;  ///< offsets of the collections
};

/// The data of a shard that is being written: chunks and heap collections (blocks), one after the other. Before each
/// block is a header that HDF5 never reads. Blocks are in the order in which they were added, whichever thread
/// compressed them. A file that is cut off after a block can be continued. One thread at a time.
class ShardData {
 public:
  /// Bytes at the beginning of the file that are kept free for HDF5.
  static constexpr std::uint64_t reserved_bytes = 4096;

  /// Opens a file, and cuts off everything after its first `committed` bytes. `committed` is 0 for a new file. @throws
  /// Error(io); Error(corrupt) if the committed data were changed.
  ShardData(const std::string& file, std::uint64_t committed, const std::vector<StoredDataset>& datasets,
            std::optional<SinkThreads> threads);
  /// Data that were not written to the file are lost.
  ~ShardData();
  ShardData(const ShardData&) = delete;
  ShardData& operator=(const ShardData&) = delete;

  /// Adds a complete chunk of unfiltered rows. If values have no fixed size, the rows are references, which name a
  /// collection by its number. @throws Error(io | out_of_memory).
  void add_chunk(std::size_t dataset, std::vector<std::byte> rows);
  /// Adds a heap collection. Returns its number.
  std::uint64_t add_heap(std::size_t dataset, std::vector<std::byte> image);
  /// Returns how many collections the dataset has, including collections that were committed earlier.
  std::uint64_t heaps(std::size_t dataset) const { return counts_[dataset].heaps; }
  std::uint64_t chunks(std::size_t dataset) const { return counts_[dataset].chunks; }

  /// Writes everything that was added.
  void flush();
  void sync() { file_.sync(); }
  /// Writes everything that was added, and closes the file; nothing can be added after that.
  void close();
  /// Returns the size of the file in bytes. REQUIRES: `flush` was called after the last `add_chunk` and `add_heap`.
  std::uint64_t bytes() const noexcept { return file_.bytes(); }
  const std::vector<WrittenBlocks>& blocks() const noexcept { return blocks_; }

 private:
  struct Waiting {
    std::size_t dataset = 0;
    bool heap = false;
    std::uint64_t number = 0;
    std::shared_ptr<ChunkWork> work;  // set if the block is a chunk with filters
    std::vector<std::byte> bytes;     // if not: the block's bytes
  };
  struct Counts {
    std::uint64_t chunks = 0, heaps = 0;
  };

  void add(Waiting block);
  void append_first();
  void append(const Waiting& block, std::span<const std::byte> bytes, std::uint32_t mask);
  void learn(const std::string& file, std::uint64_t committed);

  const std::vector<StoredDataset>& datasets_;
  std::optional<SinkThreads> threads_;
  std::vector<WrittenBlocks> blocks_;
  std::vector<Counts> counts_;
  std::deque<Waiting> waiting_;
  OutputFile file_;
};

/// Writes a reference to a value that has no fixed size: the number of its elements, its collection, and its object in
/// the collection.
void put_reference(std::span<std::byte, reference_bytes> to, std::uint32_t elements, std::uint64_t heap,
                   std::uint32_t object) noexcept;

}  // namespace penstock::hdf5
