// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::lmdb {

/// Caffe's `message Datum`, as views of the message's bytes.
struct Datum {
  std::int64_t channels = 0, height = 0, width = 0, label = 0;
  bool encoded = false;
  std::span<const std::byte> data;
  std::span<const std::byte> message;  ///< the whole message
  std::uint64_t floats = 0;            ///< number of values in `float_data`

  /// Returns whether the message has an image's data. A message of 0 bytes is well-formed, but has no image.
  bool holds_image() const noexcept;
};

/// Parses a message in the wire format of protocol buffers. Reads nothing outside of `message`. @throws Damage.
Datum parse_datum(std::span<const std::byte> message);

/// Returns the schema {image, label} of records like `datum`. @throws Error(invalid_argument) if both names are the
/// same, or one is empty.
Schema schema_of(const Datum& datum, const std::string& image, const std::string& label);

/// Gives the image and the label of `datum` to `out`. @throws Damage(unsupported) if the image is of another kind or
/// size than the schema of `out` says.
void give(const Datum& datum, SampleBuilder& out);

}  // namespace penstock::lmdb
