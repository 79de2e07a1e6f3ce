#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/schema.hpp>

#include "filters/chunk_filters.hpp"
#include "source/tables.hpp"

namespace penstock::hdf5 {

/// The values of one of a table's columns in rows that follow each other, one after the other. `field`: as the schema
/// of the source has it, of a fixed shape. Nothing stays in memory but what the table keeps.
/// @throws Error(corrupt | io) as give_row.
void copy_rows(const Table& table, std::size_t column, const Field& field, std::uint64_t first, std::uint64_t rows,
               bool verify_checksum, Workspaces& workspaces, std::span<std::byte> out);

}  // namespace penstock::hdf5
