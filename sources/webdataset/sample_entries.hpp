// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::webdataset {

/// Where the member of one field of one sample is, or why it can't be read.
struct Entry {
  std::uint64_t offset = 0;  ///< offset of the member's data; 0: there is no member
  std::uint64_t size = 0;

  /// A size that means: the sample has two members for the field.
  static constexpr std::uint64_t twice = ~std::uint64_t{0};
  /// A size that means: the member is a link or a device.
  static constexpr std::uint64_t no_data = ~std::uint64_t{0} - 1;
  /// A size that means: `danger_of` gives a reason against the member's name.
  static constexpr std::uint64_t bad_name = ~std::uint64_t{0} - 2;
  /// A size that means: the member's name is too long.
  static constexpr std::uint64_t long_name = ~std::uint64_t{0} - 3;
  /// A size that means: the member is sparse, so the shard doesn't have its bytes in plain form.
  static constexpr std::uint64_t sparse = ~std::uint64_t{0} - 4;
  /// A size that means: the member's type is unknown.
  static constexpr std::uint64_t unknown_type = ~std::uint64_t{0} - 5;
  bool readable() const noexcept { return offset != 0 && size < unknown_type; }
};

/// The entries of a shard's samples. If every sample has all fields, each sample has one entry per field. Otherwise
/// only existing members have an entry, so that memory is proportional to the shard's members.
class SampleEntries {
 public:
  SampleEntries() = default;
  explicit SampleEntries(std::size_t fields) : fields_(fields) {}

  void add_sample();
  /// Returns the last sample's entry for a field. The entry is new and empty if the sample had none.
  Entry& of_last(std::size_t slot);
  /// Frees unused memory. Call this after the last sample.
  void finish();

  /// Returns a sample's entry for a field. The entry is empty if the sample has no member for it.
  Entry at(std::uint64_t sample, std::size_t slot) const noexcept;
  /// Returns the entries of a sample, in the order of slots.
  std::span<const Entry> of(std::uint64_t sample) const noexcept;
  /// Returns whether every sample has a member of each field.
  bool complete() const noexcept { return entries_.size() == samples_ * fields_; }
  /// Returns whether samples `a` and `b` have members of the same fields.
  bool have_the_same_fields(std::uint64_t a, std::uint64_t b) const noexcept;
  /// Returns whether every sample has a readable member of each field.
  bool all_readable() const noexcept;
  /// Returns a hash of all entries, including absent ones, continued from `seed`.
  std::uint64_t hash(std::uint64_t seed) const noexcept;

 private:
  std::size_t fields_ = 0;
  std::uint64_t samples_ = 0;
  std::vector<Entry> entries_;
  // The slot of each entry, and where each sample's entries begin. `finish` clears both if no sample lacks a field.
  std::vector<std::uint16_t> slots_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace penstock::webdataset
