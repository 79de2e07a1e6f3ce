// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <penstock/error.hpp>
#include <penstock/tensor.hpp>

namespace penstock::webdataset {

/// The header of a .npy file.
struct Npy {
  DType dtype = DType::u8;
  Shape shape;
  std::size_t data = 0;  ///< offset of the elements
};

/// Thrown if bytes are not an array that can be read. `what` is the reason.
struct NpyFault {
  Errc code;
  std::string what;
};

/// `npy_header_bytes` and `parse_npy` need at most this many bytes from a file's beginning.
inline constexpr std::size_t max_npy_header_bytes = 64u << 10;
inline constexpr std::size_t npy_preamble_bytes = 12;

/// Returns the number of bytes before the elements. `beginning`: the file's first `npy_preamble_bytes` bytes, or the
/// whole file if it is shorter. @throws NpyFault.
std::size_t npy_header_bytes(std::span<const std::byte> beginning);
/// Parses a header. `beginning` must hold the whole header. `file_bytes` is the size of the file, which must be exactly
/// the header's and the elements' size together. @throws NpyFault.
Npy parse_npy(std::span<const std::byte> beginning, std::size_t file_bytes);

/// Returns the header of an array, version 1.0.
std::string make_npy_header(DType dtype, const Shape& shape);

}  // namespace penstock::webdataset
