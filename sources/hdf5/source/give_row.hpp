#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/sample.hpp>

#include "source/source_impl.hpp"

namespace penstock::hdf5 {

/// Makes the fields that come of a row of a table, the way its dataset goes. `block`: the one that holds the row, where
/// the dataset is read in blocks. @throws Error(corrupt | io).
void give_row(const Table& table, std::uint64_t row, std::span<const std::byte> block, bool verify_checksum,
              Workspaces& workspaces, SampleBuilder& out);

}  // namespace penstock::hdf5
