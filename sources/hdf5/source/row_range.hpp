// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/schema.hpp>

#include "filters/chunk_filters.hpp"
#include "source/tables.hpp"

namespace penstock::hdf5 {

/// Copies to `out` the values that one column of a table has in `rows` successive rows. `field`: the column's field in
/// the source's schema. It must have a fixed shape. After the call, only rows that the table keeps stay in memory.
/// @throws Error(corrupt | io) like give_row.
void copy_rows(const Table& table, std::size_t column, const Field& field, std::uint64_t first, std::uint64_t rows,
               bool verify_checksum, Workspaces& workspaces, std::span<std::byte> out);

}  // namespace penstock::hdf5
