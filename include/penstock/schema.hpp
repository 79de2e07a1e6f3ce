// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/shape.hpp>

namespace penstock {

/// How `batch` puts a field's rows together. A source may set it; the stages `ragged` and `pad` change it.
struct Collate {
  /// How rows are put together.
  enum class Kind : std::uint8_t {
    dense,   ///< all rows have the same fixed shape: [N, ...]
    ragged,  ///< rows may differ in size, and each has its own shape
    pad,     ///< rows are padded in their first dimension
  };
  /// How rows are put together.
  Kind kind = Kind::dense;
  std::int64_t to = 0;  ///< for `pad`: size of the first dimension. Default (0): that of the batch's longest row
  double value = 0;     ///< for `pad`: value of padding elements. Default: 0

  /// All rows have the same fixed shape.
  static Collate dense() { return {}; }
  /// Rows keep their sizes.
  static Collate ragged() { return {Kind::ragged, 0, 0}; }
  /// Rows are padded to `to` elements in their first dimension. If `to` is 0, they are padded to the length of the
  /// batch's longest row.
  static Collate pad(std::int64_t to, double value = 0) { return {Kind::pad, to, value}; }
  friend bool operator==(const Collate&, const Collate&) = default;
};

/// One named tensor of a sample.
struct Field {
  /// Name that stages, batches and errors use; not empty.
  std::string name;
  /// Type of its elements.
  DType dtype = DType::u8;
  Shape shape;  ///< shape of one sample's value, without the batch dimension
  /// How `batch` puts its rows together.
  Collate collate = {};
  /// Names of the classes that the values stand for. Default: no names. Only for whole numbers.
  ClassNames classes = {};
  friend bool operator==(const Field&, const Field&) = default;
};

/// Ordered fields with distinct names. A value; any thread may use it while no thread changes it.
class PENSTOCK_API Schema {
 public:
  Schema() = default;
  /// Makes a schema of these fields, in this order.
  /// @throws Error(invalid_argument) if a name is empty or repeated, or a field has classes but not whole numbers.
  Schema(std::initializer_list<Field> fields);
  /// Makes a schema of a vector of fields. @throws what the other constructor throws.
  explicit Schema(std::vector<Field> fields);

  /// Number of fields.
  std::size_t size() const noexcept { return fields_.size(); }
  /// Field number `slot`, which must be below `size()`.
  const Field& operator[](std::size_t slot) const noexcept { return fields_[slot]; }
  /// All fields in order.
  std::span<const Field> fields() const noexcept { return fields_; }
  /// The first field.
  auto begin() const noexcept { return fields_.begin(); }
  /// Past the last field.
  auto end() const noexcept { return fields_.end(); }

  /// Slot of a field; nothing if no field has that name.
  std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// Slot of a field. @throws Error(schema_mismatch) if it does not exist; the error lists the fields.
  std::size_t slot(std::string_view name) const;
  /// A field by its name. @throws Error(schema_mismatch) if it does not exist; the error lists the fields.
  const Field& at(std::string_view name) const { return fields_[slot(name)]; }

  /// Returns a copy in which `field` replaces the field of the same name. If no field has that name, adds `field` at
  /// the end. @throws Error(invalid_argument) if the name is empty, or `field` has classes but not whole numbers.
  Schema with(Field field) const;
  /// Returns a copy without the field of that name. @throws Error(schema_mismatch) if it does not exist.
  Schema without(std::string_view name) const;

  /// Returns a text like "{image: u8[?, ?, 3], label: i64[]}". Leaves out the names of classes.
  std::string to_string() const;
  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  void check() const;
  std::vector<Field> fields_;
};

}  // namespace penstock
