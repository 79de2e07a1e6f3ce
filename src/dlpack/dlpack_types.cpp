// SPDX-License-Identifier: Apache-2.0
#include <penstock/interop/dlpack.hpp>

namespace penstock::dlpack {

DataType to_data_type(DType dtype) noexcept {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  switch (dtype) {
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return {TypeCode::unsigned_integer, bits, 1};
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return {TypeCode::integer, bits, 1};
    case DType::f16:
    case DType::f32:
    case DType::f64:
      return {TypeCode::floating, bits, 1};
    case DType::bf16:
      return {TypeCode::bfloat, bits, 1};
    case DType::boolean:
      return {TypeCode::boolean, bits, 1};
  }
  return {};
}

std::optional<DType> to_dtype(DataType type) noexcept {
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64,
                            DType::i64, DType::f16, DType::f32, DType::f64, DType::boolean, DType::bf16})
    if (to_data_type(dtype) == type) return dtype;
  return std::nullopt;
}

}  // namespace penstock::dlpack
