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

/// How a field's rows are put together by `batch`. A source may say it; the stages `ragged` and `pad` say it otherwise.
struct Collate {
  /// What becomes of rows of differing sizes.
  enum class Kind : std::uint8_t {
    dense,   ///< all rows have one fixed shape: [N, ...]
    ragged,  ///< rows of any size, each with its shape
    pad,     ///< rows are padded in their first dimension
  };
  /// What becomes of rows of differing sizes.
  Kind kind = Kind::dense;
  std::int64_t to = 0;  ///< pad: elements of the first dimension, 0 = the batch's longest row
  double value = 0;     ///< pad: the value of padding elements

  /// All rows have one fixed shape.
  static Collate dense() { return {}; }
  /// Rows keep the sizes they have.
  static Collate ragged() { return {Kind::ragged, 0, 0}; }
  /// Rows are padded to `to` elements in their first dimension; 0 = to the batch's longest one.
  static Collate pad(std::int64_t to, double value = 0) { return {Kind::pad, to, value}; }
  friend bool operator==(const Collate&, const Collate&) = default;
};

/// One named tensor of a sample.
struct Field {
  /// Name by which stages, batches and errors call it; not empty.
  std::string name;
  /// Type of its elements.
  DType dtype = DType::u8;
  Shape shape;  ///< shape of one sample's value, without the batch dimension
  /// How `batch` puts its rows together.
  Collate collate = {};
  /// What its values stand for, where they are numbers of classes and somebody knows the names. For whole numbers only.
  ClassNames classes = {};
  friend bool operator==(const Field&, const Field&) = default;
};

/// Ordered fields with distinct names. A value; immutable use from any thread.
class PENSTOCK_API Schema {
 public:
  Schema() = default;
  /// @throws Error(invalid_argument) for an empty or a repeated name, and for classes of a field of other than whole
  /// numbers.
  Schema(std::initializer_list<Field> fields);
  /// Fields from a vector. @throws as for a list.
  explicit Schema(std::vector<Field> fields);

  /// Number of fields.
  std::size_t size() const noexcept { return fields_.size(); }
  /// A field by its slot, which must be below `size()`.
  const Field& operator[](std::size_t slot) const noexcept { return fields_[slot]; }
  /// All fields in order.
  std::span<const Field> fields() const noexcept { return fields_; }
  /// The first field.
  auto begin() const noexcept { return fields_.begin(); }
  /// Past the last field.
  auto end() const noexcept { return fields_.end(); }

  /// Slot of a field; nothing where there is none of that name.
  std::optional<std::size_t> find(std::string_view name) const noexcept;
  /// Slot of a field. @throws Error(schema_mismatch) that lists the fields there are.
  std::size_t slot(std::string_view name) const;
  /// A field by its name. @throws Error(schema_mismatch) that lists the fields there are.
  const Field& at(std::string_view name) const { return fields_[slot(name)]; }

  /// A copy in which the field of that name is replaced, or added at the end.
  Schema with(Field field) const;
  /// A copy without that field. @throws Error(schema_mismatch) where there is none.
  Schema without(std::string_view name) const;

  /// "{image: u8[?, ?, 3], label: i64[]}"; without the names of classes.
  std::string to_string() const;
  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  void check() const;
  std::vector<Field> fields_;
};

}  // namespace penstock
