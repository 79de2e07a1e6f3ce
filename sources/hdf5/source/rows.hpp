// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "source/dataset.hpp"
#include "source/find_chunk.hpp"

namespace penstock::hdf5 {

/// Reads the stored bytes of rows with one call of the library. `lost_too`: rows that are known to be lost are not an
/// error, and get any values. @throws Error(corrupt | io) with the dataset and the rows.
void read_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum,
               std::span<std::byte> out, bool lost_too = false);

/// Reads with the library the values of a chunk that are inside the dataset. @throws Error(corrupt | io) with the
/// chunk.
void read_chunk(const Dataset& dataset, std::span<const std::uint64_t> first, bool verify_checksum,
                std::span<std::byte> out);

/// Reads a row of a contiguous dataset, without the library. @throws Error(io).
void read_contiguous(const Dataset& dataset, std::uint64_t row, std::span<std::byte> out);

/// Reads a row of unfiltered chunks. The library only looks up the row's chunk (`ChunkOffsets`). @throws Error(corrupt
/// | io).
void read_plain(const Dataset& dataset, const ChunkOffsets& offsets, std::uint64_t row, std::span<std::byte> out);

/// Reads with the library the stored bytes of one column in successive rows. @throws Error(corrupt | io).
void read_column_of_rows(const Dataset& dataset, std::size_t element, std::uint64_t first, std::uint64_t rows,
                         bool verify_checksum, std::span<std::byte> out);

/// Reads with the library a row that is one value without a fixed size. `memory_for` gets the value's length in
/// elements, and returns memory for the value. @throws Error(corrupt | io), and what `memory_for` throws.
void read_variable_row(const Dataset& dataset, std::size_t element, std::uint64_t row, bool verify_checksum,
                       const std::function<std::span<std::byte>(std::uint64_t length)>& memory_for);

/// Reads with the library the strings of successive rows. The strings have no fixed size. @throws Error(corrupt | io);
/// Error(limit_exceeded) if the strings have more than `max_bytes` bytes together.
Texts read_texts_of_rows(const Dataset& dataset, std::size_t element, std::uint64_t first, std::uint64_t rows,
                         bool verify_checksum, std::uint64_t max_bytes);

}  // namespace penstock::hdf5
