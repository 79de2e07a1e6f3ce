#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataset.hpp"
#include "find_chunk.hpp"

namespace penstock::hdf5 {

/// Rows as they are stored, by the library: one hyperslab. @throws Error(corrupt | io) with the dataset and the rows.
void read_rows(const Dataset& dataset, std::uint64_t first, std::uint64_t count, bool verify_checksum,
               std::span<std::byte> out);

/// The values of a chunk, as far as the dataset reaches, by the library. @throws Error(corrupt | io) with the chunk.
void read_chunk(const Dataset& dataset, std::span<const std::uint64_t> first, bool verify_checksum,
                std::span<std::byte> out);

/// A row of a contiguous dataset, without the library. @throws Error(io).
void read_contiguous(const Dataset& dataset, std::uint64_t row, std::span<std::byte> out);

/// A row of chunks without filters, without the library once its chunk is found. @throws Error(corrupt | io).
void read_plain(const Dataset& dataset, const ChunkPlaces& places, std::uint64_t row, std::span<std::byte> out);

/// A row in the library's memory form, of type `memory`, whose elements have `element_bytes`.
void read_row_as(const Dataset& dataset, std::uint64_t row, hid_t memory, bool verify_checksum,
                 std::span<std::byte> out);

}  // namespace penstock::hdf5
