#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock::detail {

/// How the rows of one field stand in a batch.
struct RowField {
  enum class Kind : std::uint8_t {
    dense,    ///< rows of one size, at fixed addresses
    padded,   ///< rows of any size up to a fixed one, at fixed addresses
    longest,  ///< rows of any size until the batch is whole, then made equally long
    ragged,   ///< rows of any size
  };
  Kind kind = Kind::dense;
  std::size_t row_bytes = 0;  ///< bytes of a row in a batch, at a fixed address; 0 where it is appended
  std::size_t element = 1;    ///< bytes of one
  std::size_t unit = 0;       ///< bytes of one element of the first dimension; ragged ones: where the others are fixed
  std::int64_t to = 0;        ///< padded: elements of the first dimension
  std::size_t varying = 0;    ///< number among the fields that are not dense
  std::array<std::byte, 8> value{};  ///< padding, one element
  Shape empty;                       ///< shape of a row that has nothing

  bool appended() const noexcept { return kind == Kind::longest || kind == Kind::ragged; }
};

/// Bytes of a row, as it is. Saturates.
std::uint64_t row_bytes_of(const RaggedRow& row, std::size_t element) noexcept;

/// The fields of a row, as a batch has them.
class RowLayout {
 public:
  /// @throws Error(limit_exceeded) for a row that does not fit any memory.
  explicit RowLayout(const Schema& schema);

  std::span<const RowField> fields() const noexcept { return fields_; }
  const RowField& operator[](std::size_t field) const noexcept { return fields_[field]; }
  /// Fields that are not dense.
  std::size_t varying() const noexcept { return varying_; }
  bool appends() const noexcept { return appends_; }
  /// Bytes of all fields at fixed addresses together, without what aligns them.
  std::uint64_t row_bytes() const noexcept { return row_bytes_; }

 private:
  std::vector<RowField> fields_;
  std::size_t varying_ = 0;
  bool appends_ = false;
  std::uint64_t row_bytes_ = 0;
};

/// How far a field asks for what can be: its shape fits its collation. @throws Error(schema_mismatch).
void check_collate(const Field& field);
/// One element of this value. @throws Error(invalid_argument) where the dtype does not have it exactly.
std::array<std::byte, 8> element_of(DType dtype, double value);
/// Fills `bytes`, a multiple of the field's element size, with padding.
void fill_padding(const RowField& field, std::byte* out, std::size_t bytes) noexcept;

/// Where those values of one sample go whose sizes it alone tells. One thread at a time.
class RowOutlet {
 public:
  virtual ~RowOutlet() = default;
  /// Memory for a row. @throws Error.
  virtual std::byte* append(std::size_t bytes) = 0;
};

}  // namespace penstock::detail
