// SPDX-License-Identifier: Apache-2.0
#include "image/way_to_image.hpp"

namespace penstock::detail {

namespace {

constexpr std::size_t image_rank = 3;

bool holds_whole_numbers(DType dtype) {
  switch (dtype) {
    case DType::i8:
    case DType::i16:
    case DType::u32:
    case DType::i32:
    case DType::u64:
    case DType::i64:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string way_to_image(const Field& field) {
  const std::string name = "(\"" + field.name + "\"";
  if (field.dtype == DType::boolean) return "cast" + name + ", DType::u8) before it makes 0 and 1 of it";
  // Label masks from HDF5 and NumPy often have these dtypes.
  if (holds_whole_numbers(field.dtype))
    return "cast" + name +
           ", DType::u8) before it keeps 0 to 255, DType::u16 0 to 65535, and makes a sample with other "
           "values a bad one";
  if ((field.dtype == DType::u8 || field.dtype == DType::u16) && field.shape.rank() + 1 == image_rank)
    return "a map before it gives it a channel, [H, W, 1], if it is a mask; encoded bytes are decoded";
  return "decode before it, convert or normalise after it";
}

}  // namespace penstock::detail
