#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sink/shard_data.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

/// Makes an HDF5 file of one that holds the data of `rows` rows: superblock, datasets, and where their chunks lie. The
/// same bytes for the same data. `keys`: the dataset of keys; empty: none. @throws Error(io).
void write_index(const std::string& file, std::uint64_t data_end, const std::vector<StoredDataset>& datasets,
                 const std::vector<WrittenBlocks>& blocks, std::uint64_t rows, const std::string& keys);

/// True for a file that `write_index` has finished, and that was not cut short since. @throws Error(io).
bool is_indexed(const std::string& file);

/// How many rows a finished shard's dataset has; 0 where there is none of that name. @throws Error(io | corrupt).
std::uint64_t rows_of_shard(const std::string& file, const std::string& dataset);

}  // namespace penstock::hdf5
