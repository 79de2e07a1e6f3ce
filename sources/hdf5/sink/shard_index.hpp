// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sink/shard_data.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

/// Turns a file with the data of `rows` rows into an HDF5 file: adds the superblock, the datasets, and the positions of
/// their chunks. Equal data give equal bytes. `keys`: the dataset of keys; empty: none. @throws Error(io).
void write_index(const std::string& file, std::uint64_t data_end, const std::vector<StoredDataset>& datasets,
                 const std::vector<WrittenBlocks>& blocks, std::uint64_t rows, const std::string& keys);

/// Returns whether `write_index` has finished the file, and it was not cut off since. @throws Error(io).
bool is_indexed(const std::string& file);

/// Returns how many rows a finished shard's dataset has; 0 if it does not exist. @throws Error(io | corrupt).
std::uint64_t rows_of_shard(const std::string& file, const std::string& dataset);

}  // namespace penstock::hdf5
