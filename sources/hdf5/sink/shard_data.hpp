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

/// Where a chunk lies.
struct WrittenChunk {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t mask = 0;  ///< filters that were left out
};

/// Chunks and heap collections of each dataset, by their numbers.
struct WrittenBlocks {
  std::vector<WrittenChunk> chunks;
  std::vector<std::uint64_t> heaps;  ///< offsets
};

/// The data of a shard while it is written: chunks and heap collections one after the other, each after a header of
/// ours, which HDF5 never looks at. They stand in the order in which they were added, whoever compressed them when. A
/// file that was cut off after any of them can be continued. One thread at a time.
class ShardData {
 public:
  /// What is kept free at the beginning of the file, for HDF5.
  static constexpr std::uint64_t reserved_bytes = 4096;

  /// A file of `committed` bytes, 0 for a new one, which is cut off after them. @throws Error(io), Error(corrupt)
  /// where the data is not as it was written.
  ShardData(const std::string& file, std::uint64_t committed, const std::vector<StoredDataset>& datasets,
            std::optional<SinkThreads> threads);
  /// What has not been appended is lost.
  ~ShardData();
  ShardData(const ShardData&) = delete;
  ShardData& operator=(const ShardData&) = delete;

  /// A whole chunk of rows as they are, the references of a dataset of no fixed size among them: those name a
  /// collection by its number. @throws Error(io | out_of_memory).
  void add_chunk(std::size_t dataset, std::vector<std::byte> rows);
  /// Returns the collection's number.
  std::uint64_t add_heap(std::size_t dataset, std::vector<std::byte> image);
  /// Collections that were added.
  std::uint64_t heaps(std::size_t dataset) const { return counts_[dataset].heaps; }
  std::uint64_t chunks(std::size_t dataset) const { return counts_[dataset].chunks; }

  /// All that was added is in the file.
  void flush();
  void sync() { file_.sync(); }
  /// All that was added is in the file, which is closed: nothing can be added then.
  void close();
  /// Bytes of the data, after `flush`.
  std::uint64_t bytes() const noexcept { return file_.bytes(); }
  const std::vector<WrittenBlocks>& blocks() const noexcept { return blocks_; }

 private:
  struct Waiting {
    std::size_t dataset = 0;
    bool heap = false;
    std::uint64_t number = 0;
    std::shared_ptr<ChunkWork> work;  // set for a chunk with filters
    std::vector<std::byte> bytes;     // bytes of all other blocks
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

/// A reference to a value of no fixed size: how many elements, in which collection, which object there.
void put_reference(std::span<std::byte, reference_bytes> to, std::uint32_t elements, std::uint64_t heap,
                   std::uint32_t object) noexcept;

}  // namespace penstock::hdf5
