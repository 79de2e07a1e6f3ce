// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::lmdb {

/// Caffe's `message Datum`, with its bytes in place.
struct Datum {
  std::int64_t channels = 0, height = 0, width = 0, label = 0;
  bool encoded = false;
  std::span<const std::byte> data;
  std::span<const std::byte> message;  ///< all of it
  std::uint64_t floats = 0;            ///< number of `float_data`

  /// Returns false if the message has no data of an image, like the message of 0 bytes, which is well-formed.
  bool holds_image() const noexcept;
};

/// Parses a protocol buffer message by its wire format. Reads nothing outside of `message`. @throws Damage.
Datum parse_datum(std::span<const std::byte> message);

/// Returns the schema of records like this one: {image, label}. @throws Damage.
Schema schema_of(const Datum& datum, const std::string& image, const std::string& label);

/// Gives slots 0 and 1 of that schema. @throws Damage(unsupported) if the record's kind or size differs from the
/// schema's.
void give(const Datum& datum, SampleBuilder& out);

}  // namespace penstock::lmdb
