// SPDX-License-Identifier: Apache-2.0
#include "source/datum.hpp"

#include <cstring>

#include "store/errors.hpp"

namespace penstock::lmdb {

namespace {

enum Wire : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
enum Number : std::uint64_t { channels = 1, height = 2, width = 3, data = 4, label = 5, float_data = 6, encoded = 7 };

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : message_(message) {}

  bool done() const noexcept { return at_ == message_.size(); }
  std::size_t at() const noexcept { return at_; }

  std::uint64_t take_varint() {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (done()) throw Damage{"the Datum ends inside a number", begin};
      const auto byte = std::to_integer<std::uint64_t>(message_[at_++]);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw Damage{"a number in the Datum is longer than 64 bits", begin};
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > message_.size() - at_) throw Damage{"a part of the Datum is longer than what is left of it", at_};
    const auto part = message_.subspan(at_, static_cast<std::size_t>(count));
    at_ += part.size();
    return part;
  }
  void skip(unsigned wire) {
    switch (wire) {
      case Wire::varint:
        take_varint();
        return;
      case Wire::fixed64:
        take(8);
        return;
      case Wire::bytes:
        take(take_varint());
        return;
      case Wire::fixed32:
        take(4);
        return;
      default:
        throw Damage{"the value is not a Datum", at_};
    }
  }

 private:
  std::span<const std::byte> message_;
  std::size_t at_ = 0;
};

// Calls `take` with the bytes of each piece of `float_data`.
template <class Take>
void each_float_run(const Datum& datum, const Take& take) {
  WireReader reader(datum.message);
  while (!reader.done()) {
    const std::uint64_t tag = reader.take_varint();
    if (tag == (Number::float_data << 3 | Wire::fixed32)) {
      take(reader.take(4));
    } else if (tag == (Number::float_data << 3 | Wire::bytes)) {
      take(reader.take(reader.take_varint()));
    } else {
      reader.skip(static_cast<unsigned>(tag & 7));
    }
  }
}

Shape shape_of(const Datum& datum) { return {datum.channels, datum.height, datum.width}; }

}  // namespace

bool Datum::holds_image() const noexcept { return !data.empty() || (!encoded && floats != 0); }

Datum parse_datum(std::span<const std::byte> message) {
  Datum datum;
  datum.message = message;
  WireReader reader(message);
  while (!reader.done()) {
    const std::size_t begin = reader.at();
    const std::uint64_t tag = reader.take_varint();
    const std::uint64_t number = tag >> 3;
    const auto wire = static_cast<unsigned>(tag & 7);
    if (number == 0) throw Damage{"the value is not a Datum", begin};
    const bool is_number = number == Number::channels || number == Number::height || number == Number::width ||
                           number == Number::label || number == Number::encoded;
    if (is_number && wire == Wire::varint) {
      // The fields are int32, but negative numbers are written with 64 bits.
      const auto value = static_cast<std::int64_t>(static_cast<std::int32_t>(reader.take_varint()));
      if (number == Number::channels) datum.channels = value;
      if (number == Number::height) datum.height = value;
      if (number == Number::width) datum.width = value;
      if (number == Number::label) datum.label = value;
      if (number == Number::encoded) datum.encoded = value != 0;
    } else if (number == Number::data && wire == Wire::bytes) {
      datum.data = reader.take(reader.take_varint());
    } else if (number == Number::float_data && wire == Wire::fixed32) {
      reader.take(4);
      ++datum.floats;
    } else if (number == Number::float_data && wire == Wire::bytes) {
      const auto run = reader.take(reader.take_varint());
      if (run.size() % 4 != 0) throw Damage{"the Datum's floats are not whole", begin};
      datum.floats += run.size() / 4;
    } else if (is_number || number == Number::data || number == Number::float_data) {
      throw Damage{"the value is not a Datum", begin};
    } else {
      reader.skip(wire);
    }
  }
  if (datum.encoded) return datum;

  std::uint64_t expected = 1;
  for (const std::int64_t dim : {datum.channels, datum.height, datum.width})
    if (dim < 0 || __builtin_mul_overflow(expected, static_cast<std::uint64_t>(dim), &expected))
      throw Damage{"the Datum's size is negative or too large", 0};
  const std::uint64_t have = datum.data.empty() ? datum.floats : datum.data.size();
  if (have != expected)
    throw Damage{"the Datum has " + std::to_string(have) + " values, its size says " + std::to_string(expected), 0};
  return datum;
}

Schema schema_of(const Datum& datum, const std::string& image, const std::string& label_name) {
  const Field target{label_name, DType::i64, {}};
  if (datum.encoded) return {{image, DType::u8, {dynamic}}, target};
  return {{image, datum.data.empty() && datum.floats != 0 ? DType::f32 : DType::u8, shape_of(datum)}, target};
}

void give(const Datum& datum, SampleBuilder& out) {
  const Field& image = out.schema()[0];
  if (datum.encoded != (image.shape.rank() == 1))
    throw Damage{
        "the Datum is not of the kind of the store's first good one: one is an encoded image, the other is not", 0,
        Errc::unsupported};
  if (datum.encoded) {
    out.view(0, datum.data);
  } else {
    const Shape shape = shape_of(datum);
    const DType dtype = datum.data.empty() && datum.floats != 0 ? DType::f32 : DType::u8;
    if (image.dtype != dtype || !image.shape.admits(shape))
      throw Damage{"the Datum is " + std::string(to_string(dtype)) + shape.to_string() +
                       ", the store's first good one is " + std::string(to_string(image.dtype)) +
                       image.shape.to_string(),
                   0, Errc::unsupported};
    if (dtype == DType::u8) {
      out.view(0, datum.data.data(), shape);
    } else {
      std::byte* to = out.emplace(0, shape).data;
      each_float_run(datum, [&](std::span<const std::byte> run) {
        std::memcpy(to, run.data(), run.size());
        to += run.size();
      });
    }
  }
  out.scalar<std::int64_t>(1, datum.label);
}

}  // namespace penstock::lmdb
