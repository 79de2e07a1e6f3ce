// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

#include "library/access.hpp"
#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// Makes one field from rows of one dataset. Immutable; any thread.
class Column {
 public:
  /// @throws Error(unsupported | not_found | corrupt) if the column can't become a field.
  Column(const Dataset& dataset, const Hdf5Field& wanted, std::string name);

  /// Returns the field of the schema.
  const Field& field() const noexcept { return field_; }
  const std::string& member() const noexcept { return member_; }
  /// Returns whether the stored bytes of a row are the field's value.
  bool is_row() const noexcept { return member_.empty() && element_.form == ElementFacts::Form::same; }
  /// Returns whether values are texts or sequences without a fixed length, which only the library can read.
  bool variable() const noexcept { return element_.form == ElementFacts::Form::variable; }
  const ElementFacts& element() const noexcept { return element_; }
  /// Returns whether the values can be keys: strings or whole numbers, one per row.
  bool gives_keys() const noexcept;
  /// Appends a stored value to `to`, as a key. REQUIRES: not `variable`.
  void append_key(const std::byte* value, std::string& to) const;
  bool converted() const noexcept { return element_.form == ElementFacts::Form::converted; }

  /// Gives the value of a stored row to `out`. `stays`: whether the row's memory stays valid. If so, and if the value
  /// is stored in its final form, gives a view of the row's memory. REQUIRES: not `variable`.
  void give(std::span<const std::byte> row, bool stays, std::size_t slot, SampleBuilder& out) const;
  /// Reads a row's value with the HDF5 library, as `Hdf5Way::rows` does, and gives the value to `out`.
  void read(const Dataset& dataset, std::uint64_t row, bool verify_checksum, std::size_t slot,
            SampleBuilder& out) const;

 private:
  void give(const std::byte* values, std::size_t stride, bool stays, std::size_t slot, SampleBuilder& out) const;
  void put(const std::byte* values, std::size_t stride, const TensorView& to) const;
  void convert(const std::byte* values, std::size_t stride, const TensorView& to) const;
  void require_inside(const Dataset& dataset) const;
  void read_variable(const Dataset& dataset, std::uint64_t row, bool verify_checksum, std::size_t slot,
                     SampleBuilder& out) const;

  Field field_;
  Access* access_;  ///< the access of the dataset's file
  ElementFacts element_;
  std::string member_;
  std::size_t stride_ = 0;   ///< bytes of one element of the dataset
  std::uint64_t count_ = 1;  ///< number of elements in a row
};

}  // namespace penstock::hdf5
