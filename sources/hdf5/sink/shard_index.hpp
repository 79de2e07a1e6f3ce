#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sink/shard_data.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

/// What a file says of itself besides its data.
struct ShardFacts {
  std::string job;   ///< text, for a sink that finds the file
  std::string keys;  ///< the dataset of keys; empty: none
};

/// Makes an HDF5 file of one that holds the data of `rows` rows: superblock, datasets, and where their chunks lie. The
/// same bytes for the same data. @throws Error(io).
void write_index(const std::string& file, std::uint64_t data_end, const std::vector<StoredDataset>& datasets,
                 const std::vector<WrittenBlocks>& blocks, std::uint64_t rows, const ShardFacts& facts);

/// True for a file that `write_index` has finished, and that was not cut short since. @throws Error(io).
bool is_indexed(const std::string& file);

/// What `read_index` finds in a finished shard. @throws Error(io | corrupt).
struct IndexedShard {
  std::string job;  ///< empty where this library has not written it
  std::uint64_t rows = 0;
};
IndexedShard read_index(const std::string& file, const std::string& dataset);

}  // namespace penstock::hdf5
