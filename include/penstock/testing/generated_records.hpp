// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::testing {

/// A source of generated records for tests of a sink or a transform: {image: u8[?], label: i64[]}. Images have 0 to
/// 3,000 bytes of noise, which is the same on every machine. A record's key is its index in at least 8 digits.
/// Immutable; any thread.
class PENSTOCK_API GeneratedRecords {
 public:
  /// Makes a source of `count` records.
  explicit GeneratedRecords(std::uint64_t count) : count_(count) {}
  /// Number of records.
  std::uint64_t size() const noexcept { return count_; }
  /// {image: u8[?], label: i64[]}.
  Schema schema() const;
  /// @throws Error(not_found) if `index` is not below size().
  void read(std::uint64_t index, SampleBuilder& out) const;
  /// @throws Error(not_found) if `index` is not below size().
  std::string key(std::uint64_t index) const;
  /// The source's name in errors.
  std::string name() const { return "generated"; }
  /// The data set's identity, which does not depend on the number of records.
  std::uint64_t identity() const noexcept { return 1; }

 private:
  std::uint64_t count_;
};

}  // namespace penstock::testing
