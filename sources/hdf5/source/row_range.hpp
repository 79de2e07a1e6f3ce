// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/schema.hpp>

#include "filters/chunk_filters.hpp"
#include "source/tables.hpp"

namespace penstock::hdf5 {

/// Copies the values of one of a table's columns in successive rows, one after the other. `field`: as in the source's
/// schema, of a fixed shape. Only what the table keeps stays in memory. @throws Error(corrupt | io) like give_row.
void copy_rows(const Table& table, std::size_t column, const Field& field, std::uint64_t first, std::uint64_t rows,
               bool verify_checksum, Workspaces& workspaces, std::span<std::byte> out);

}  // namespace penstock::hdf5
