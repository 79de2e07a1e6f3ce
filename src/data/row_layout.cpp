// SPDX-License-Identifier: Apache-2.0
#include "data/row_layout.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>

namespace penstock::detail {

namespace {

constexpr std::uint64_t max_row_bytes = std::numeric_limits<std::size_t>::max() / 4;

template <class T>
std::array<std::byte, 8> exactly(double value, DType dtype) {
  // A double can't represent the largest number of a 64-bit type. So `value` must be below the next power of two.
  const double below = std::is_same_v<T, bool> ? 2.0 : std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double least = std::is_signed_v<T> ? -below : 0.0;
  if (!(value >= least && value < below) || std::trunc(value) != value)
    throw Error(Errc::invalid_argument,
                "padding of " + std::to_string(value) + " is no " + std::string(to_string(dtype)));
  const T element = static_cast<T>(value);
  std::array<std::byte, 8> out{};
  std::memcpy(out.data(), &element, sizeof(T));
  return out;
}

// Returns the bits of the half that is exactly `value`. Tries all halves, because there are only 65,536 of them.
std::uint16_t half_of(double value) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const double magnitude = exponent == 0    ? std::ldexp(static_cast<double>(fraction), -24)
                             : exponent == 31 ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                                              : std::ldexp(1.0 + fraction / 1024.0, static_cast<int>(exponent) - 15);
    const double is = (bits & 0x8000) != 0 ? -magnitude : magnitude;
    if ((is == value && std::signbit(is) == std::signbit(value)) || (std::isnan(is) && std::isnan(value)))
      return static_cast<std::uint16_t>(bits);
  }
  throw Error(Errc::invalid_argument, "padding of " + std::to_string(value) + " is no f16");
}

std::uint64_t times(std::uint64_t a, std::uint64_t b, const Field& field) {
  if (b != 0 && a > max_row_bytes / b)
    throw Error(Errc::limit_exceeded, "a row of field \"" + field.name + "\" does not fit any memory");
  return a * b;
}

}  // namespace

std::array<std::byte, 8> element_of(DType dtype, double value) {
  std::array<std::byte, 8> out{};
  switch (dtype) {
    case DType::u8:
      return exactly<std::uint8_t>(value, dtype);
    case DType::i8:
      return exactly<std::int8_t>(value, dtype);
    case DType::u16:
      return exactly<std::uint16_t>(value, dtype);
    case DType::i16:
      return exactly<std::int16_t>(value, dtype);
    case DType::u32:
      return exactly<std::uint32_t>(value, dtype);
    case DType::i32:
      return exactly<std::int32_t>(value, dtype);
    case DType::u64:
      return exactly<std::uint64_t>(value, dtype);
    case DType::i64:
      return exactly<std::int64_t>(value, dtype);
    case DType::boolean:
      return exactly<bool>(value, dtype);
    case DType::f16: {
      const std::uint16_t bits = half_of(value);
      std::memcpy(out.data(), &bits, sizeof bits);
      return out;
    }
    case DType::bf16: {
      const std::uint16_t bits = to_bfloat16(value);
      if (!std::isnan(value) && static_cast<double>(from_bfloat16(bits)) != value)
        throw Error(Errc::invalid_argument, "padding of " + std::to_string(value) + " is no bf16");
      std::memcpy(out.data(), &bits, sizeof bits);
      return out;
    }
    case DType::f32: {
      if (std::isfinite(value) && (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()) ||
                                   static_cast<double>(static_cast<float>(value)) != value))
        throw Error(Errc::invalid_argument, "padding of " + std::to_string(value) + " is no f32");
      const auto element = static_cast<float>(value);
      std::memcpy(out.data(), &element, sizeof element);
      return out;
    }
    case DType::f64:
      std::memcpy(out.data(), &value, sizeof value);
      return out;
  }
  return out;
}

void check_collate(const Field& field) {
  if (field.collate.kind == Collate::Kind::dense) return;
  const std::string is =
      "field \"" + field.name + "\" is " + std::string(to_string(field.dtype)) + field.shape.to_string();
  if (field.shape.rank() == 0) throw Error(Errc::schema_mismatch, is + ": a scalar is of one size in all samples");
  if (field.collate.kind == Collate::Kind::ragged) return;
  for (std::size_t i = 1; i < field.shape.rank(); ++i)
    if (field.shape[i] == dynamic)
      throw Error(Errc::schema_mismatch, is + ": padding makes the first dimension equal, the others must be fixed");
  if (field.collate.to < 0 || (field.collate.to != 0 && field.shape[0] > field.collate.to))
    throw Error(Errc::schema_mismatch, is + ", which is not padded to " + std::to_string(field.collate.to));
}

RowLayout::RowLayout(const Schema& schema) {
  for (const Field& field : schema) {
    RowField out;
    out.empty = field.shape;
    for (std::size_t i = 0; i < out.empty.rank(); ++i)
      if (out.empty[i] == dynamic) out.empty[i] = 0;
    out.unit = out.element = size_of(field.dtype);
    for (std::size_t i = 1; i < field.shape.rank() && out.unit != 0; ++i)
      out.unit = field.shape[i] == dynamic
                     ? 0
                     : static_cast<std::size_t>(times(out.unit, static_cast<std::uint64_t>(field.shape[i]), field));
    switch (field.collate.kind) {
      case Collate::Kind::dense:
        out.row_bytes = static_cast<std::size_t>(times(field.shape.elements(), size_of(field.dtype), field));
        break;
      case Collate::Kind::ragged:
        out.kind = RowField::Kind::ragged;
        break;
      case Collate::Kind::pad:
        out.kind = field.collate.to == 0 ? RowField::Kind::longest : RowField::Kind::padded;
        out.to = field.collate.to;
        out.row_bytes = static_cast<std::size_t>(times(out.unit, static_cast<std::uint64_t>(field.collate.to), field));
        out.value = element_of(field.dtype, field.collate.value);
        break;
    }
    if (out.kind != RowField::Kind::dense) {
      out.varying = varying_++;
      out.empty[0] = 0;
    }
    appends_ = appends_ || out.appended();
    if (out.row_bytes > max_row_bytes - row_bytes_)
      throw Error(Errc::limit_exceeded, "a row of field \"" + field.name + "\" does not fit any memory");
    row_bytes_ += out.row_bytes;
    fields_.push_back(out);
  }
}

std::uint64_t row_bytes_of(const RaggedRow& row, std::size_t element) noexcept {
  std::uint64_t bytes = element;
  for (const std::int64_t dim : row.shape.dims())
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes)) return ~std::uint64_t{0};
  return bytes;
}

void fill_padding(const RowField& field, std::byte* out, std::size_t bytes) noexcept {
  bool zero = true;
  for (std::size_t i = 0; i < field.element; ++i) zero = zero && field.value[i] == std::byte{0};
  if (bytes == 0) return;
  if (zero || field.element == 1) {
    std::memset(out, static_cast<int>(field.value[0]), bytes);
    return;
  }
  // Each copy doubles the filled part, so most bytes are copied in long pieces.
  std::memcpy(out, field.value.data(), field.element);
  for (std::size_t done = field.element; done < bytes;) {
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(out + done, out, more);
    done += more;
  }
}

}  // namespace penstock::detail
