// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::lmdb {

/// Where the parts of a record are, for one schema. docs/formats/lmdb.md describes the format. Immutable; any thread.
class RecordLayout {
 public:
  explicit RecordLayout(const Schema& schema);

  /// Returns how many bytes the sample takes as a record.
  std::size_t encoded_bytes(Sample& sample) const;
  /// Writes the sample as a record to `out`, which must have `encoded_bytes(sample)` bytes. Writes every byte.
  void encode(Sample& sample, std::string_view key, std::span<std::byte> out) const;

  /// Gives the fields of a record to `out`, as views if the addresses are aligned, otherwise as copies. Reads nothing
  /// outside of `record`, whatever its content. @throws Damage.
  void decode(std::span<const std::byte> record, std::string_view key, bool verify_checksum, SampleBuilder& out) const;
  /// Returns the address of the value of a field that has one number. The value may be unaligned. Does not compare the
  /// checksum. @throws Damage.
  const std::byte* scalar(std::span<const std::byte> record, std::size_t slot) const;

 private:
  struct Part {
    Shape shape;
    std::size_t item;   // bytes per element
    std::size_t entry;  // where the header has the field's offset
  };
  void check_header(std::span<const std::byte> record) const;
  std::vector<Part> parts_;
  std::size_t header_ = 0;
};

}  // namespace penstock::lmdb
