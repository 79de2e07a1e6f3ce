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
  std::size_t data = 0;  ///< where the elements begin
};

/// Thrown with the reason if bytes are not an array.
struct NpyDamage {
  Errc code;
  std::string what;
};

/// Longest beginning of a file that `npy_header_bytes` or `parse_npy` may need.
inline constexpr std::size_t max_npy_header_bytes = 64u << 10;
inline constexpr std::size_t npy_preamble_bytes = 12;

/// Returns the number of bytes before the elements, from the first `npy_preamble_bytes` bytes (or all, if there are
/// fewer). @throws NpyDamage.
std::size_t npy_header_bytes(std::span<const std::byte> beginning);
/// `beginning` must hold the whole header; `file_bytes` is the size of the whole file, which must fit the shape
/// exactly. @throws NpyDamage.
Npy parse_npy(std::span<const std::byte> beginning, std::size_t file_bytes);

/// Returns the header of an array, version 1.0.
std::string make_npy_header(DType dtype, const Shape& shape);

}  // namespace penstock::webdataset
