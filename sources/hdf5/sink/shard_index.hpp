// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sink/shard_data.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

/// Makes an HDF5 file of a file that has the data of `rows` rows. Adds the superblock, the datasets, and the positions
/// of their chunks. Equal data give equal bytes. `data_end`: where the data end. `keys`: the path of the dataset of
/// keys; empty: none. @throws Error(io).
void write_index(const std::string& file, std::uint64_t data_end, const std::vector<StoredDataset>& datasets,
                 const std::vector<WrittenBlocks>& blocks, std::uint64_t rows, const std::string& keys);

/// Returns whether `write_index` has finished the file, and the file has the same size as then. @throws Error(io).
bool is_indexed(const std::string& file);

/// Returns how many rows a dataset of a finished shard has; 0 if there is no such dataset. @throws Error(io | corrupt).
std::uint64_t rows_of_shard(const std::string& file, const std::string& dataset);

}  // namespace penstock::hdf5
