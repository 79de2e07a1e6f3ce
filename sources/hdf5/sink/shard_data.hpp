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
  std::uint32_t mask = 0;  ///< bits of filters that were left out
};

/// The chunks and heap collections of a dataset, by their numbers.
struct WrittenBlocks {
  std::vector<WrittenChunk> chunks;
  std::vector<std::uint64_t> heaps;  ///< offsets
};

/// The data of a shard while it is written: chunks and heap collections one after the other, each after a header that
/// HDF5 never reads. They are in the order in which they were added, whichever thread compressed them. If a file is cut
/// off after any of them, it can be continued. One thread at a time.
class ShardData {
 public:
  /// Bytes at the beginning of the file that are kept free for HDF5.
  static constexpr std::uint64_t reserved_bytes = 4096;

  /// Opens a file of `committed` bytes (0 for a new one) and cuts off everything after them. @throws Error(io),
  /// Error(corrupt) if the data are not as they were written.
  ShardData(const std::string& file, std::uint64_t committed, const std::vector<StoredDataset>& datasets,
            std::optional<SinkThreads> threads);
  /// Data that were not appended are lost.
  ~ShardData();
  ShardData(const ShardData&) = delete;
  ShardData& operator=(const ShardData&) = delete;

  /// Adds a whole chunk of unfiltered rows. A dataset of no fixed size has references in its rows, which name a
  /// collection by its number. @throws Error(io | out_of_memory).
  void add_chunk(std::size_t dataset, std::vector<std::byte> rows);
  /// Returns the collection's number.
  std::uint64_t add_heap(std::size_t dataset, std::vector<std::byte> image);
  /// Returns the number of collections that were added.
  std::uint64_t heaps(std::size_t dataset) const { return counts_[dataset].heaps; }
  std::uint64_t chunks(std::size_t dataset) const { return counts_[dataset].chunks; }

  /// Writes everything that was added to the file.
  void flush();
  void sync() { file_.sync(); }
  /// Writes everything that was added, and closes the file; nothing can be added after that.
  void close();
  /// Returns the bytes of the data, after `flush`.
  std::uint64_t bytes() const noexcept { return file_.bytes(); }
  const std::vector<WrittenBlocks>& blocks() const noexcept { return blocks_; }

 private:
  struct Waiting {
    std::size_t dataset = 0;
    bool heap = false;
    std::uint64_t number = 0;
    std::shared_ptr<ChunkWork> work;  // set if the chunk has filters
    std::vector<std::byte> bytes;     // the bytes of any other block
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

/// Writes a reference to a value of no fixed size: its number of elements, its collection, and its object in that.
void put_reference(std::span<std::byte, reference_bytes> to, std::uint32_t elements, std::uint64_t heap,
                   std::uint32_t object) noexcept;

}  // namespace penstock::hdf5
