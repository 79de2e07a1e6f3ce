// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "source/dataset.hpp"
#include "source/find_chunk.hpp"

namespace penstock::hdf5 {

/// Reads rows as they are stored, by the library, in one call. `lost_too`: rows that are known to be lost are not an
/// error, and get any values. @throws Error(corrupt | io) with the dataset and the rows.
void read_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum,
               std::span<std::byte> out, bool lost_too = false);

/// Reads the values of a chunk that are inside the dataset, by the library. @throws Error(corrupt | io) with the chunk.
void read_chunk(const Dataset& dataset, std::span<const std::uint64_t> first, bool verify_checksum,
                std::span<std::byte> out);

/// Reads a row of a contiguous dataset, without the library. @throws Error(io).
void read_contiguous(const Dataset& dataset, std::uint64_t row, std::span<std::byte> out);

/// Reads a row of unfiltered chunks. The library only looks up the row's chunk, once. @throws Error(corrupt | io).
void read_plain(const Dataset& dataset, const ChunkOffsets& offsets, std::uint64_t row, std::span<std::byte> out);

/// Reads one column of successive rows as it is stored, by the library. @throws Error(corrupt | io).
void read_column_of_rows(const Dataset& dataset, std::size_t element, std::uint64_t first, std::uint64_t rows,
                         bool verify_checksum, std::span<std::byte> out);

/// Reads a value that has no fixed size and is its whole row, by the library. @throws Error(corrupt | io), and what
/// `memory_for` throws.
void read_variable_row(const Dataset& dataset, std::size_t element, std::uint64_t row, bool verify_checksum,
                       const std::function<std::span<std::byte>(std::uint64_t length)>& memory_for);

/// Reads the strings of successive rows, which have no fixed size, by the library. @throws Error(corrupt | io |
/// limit_exceeded).
Texts read_texts_of_rows(const Dataset& dataset, std::size_t element, std::uint64_t first, std::uint64_t rows,
                         bool verify_checksum, std::uint64_t max_bytes);

}  // namespace penstock::hdf5
