// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/sample.hpp>

#include "source/source_impl.hpp"

namespace penstock::hdf5 {

/// Reads a row of a table in the way of the table's dataset (`Dataset::way`), and gives the row's fields to `out`.
/// `block`: the decoded block of the row, if the dataset is read in blocks. @throws Error(corrupt | io).
void give_row(const Table& table, std::uint64_t row, std::span<const std::byte> block, bool verify_checksum,
              Workspaces& workspaces, SampleBuilder& out);

}  // namespace penstock::hdf5
