// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/promised_image.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

namespace detail {

namespace runtime {
class ChainRun;
}

/// An encoded image that is a field's value until its pixels are decoded. A source promised the image, or a decode
/// stage opened it. If a source promised it, the promise takes over `destination` and `row` from the field's cell.
struct Promise {
  EncodedImage* image = nullptr;
  ImageShape shape;
  std::byte* destination = nullptr;
  std::uint32_t row = 0;
  std::size_t slot = 0;                ///< the field's slot in the source's schema
  const std::string* stage = nullptr;  ///< label of the stage that decodes the image; null: a source promised it
};

/// Where one field of the sample being processed is. Before the stage that makes the field's final value runs, the
/// engine sets `destination` to the field's row in the batch.
struct Cell {
  const std::byte* data = nullptr;   ///< the value; null while nothing has written it, or while it is promised
  std::byte* destination = nullptr;  ///< where the next writer must put the value; null: anywhere, if `row` is 0
  bool writable = false;             ///< false: the value is a view into a store's own memory
  /// If the destination depends on the value's shape: 1 + the number of the batch's field. Otherwise 0.
  std::uint32_t row = 0;
  /// If `data` is null: the promise of the value, if there is one. Otherwise: the promise from which the value was
  /// decoded; null if there was none, or if a stage may have changed the value since then.
  const Promise* promise = nullptr;
  Shape shape;
};

/// The memory that a Sample and a SampleBuilder work on: the cells of one runner, and the runner's scratch memory.
class PENSTOCK_API Cells {
 public:
  virtual ~Cells() = default;
  const Schema* schema = nullptr;  ///< the fields at this point of the chain
  std::vector<Cell> cells;         ///< one per field of `schema`

  /// Returns memory for a new value of the field: the cell's destination, if it has one. Checks `shape` against the
  /// schema. If the cell has no destination, also checks the value's size against `max_bytes`.
  std::byte* make(std::size_t slot, const Shape& shape);
  /// Returns the value for writing. If the value is a view into a store, copies it first. Ends the value's promise,
  /// because the caller may change the value.
  std::byte* own(std::size_t slot);
  /// Returns the value for reading. All readers use this function. Decodes a promised value.
  /// @throws Error if there is no value.
  const std::byte* value(std::size_t slot) {
    if (cells[slot].data == nullptr) [[unlikely]]
      keep_promise(slot);
    return cells[slot].data;
  }
  /// Whether there is a value or the promise of a value.
  bool given(std::size_t slot) const noexcept { return cells[slot].data != nullptr || cells[slot].promise != nullptr; }
  /// Promises an image as the field's value.
  template <class P>
  void promise(std::size_t slot, const P& image) {
    give_promise(slot, *::new (promise_memory(sizeof(P))) P(image));
  }
  [[noreturn]] void refuse(std::size_t slot, std::string_view what, DType asked, std::size_t rank) const;
  [[noreturn]] void missing(std::size_t slot) const;

  /// Returns the run that makes the sample; null: the sample is made without one.
  virtual runtime::ChainRun* chain_run() noexcept { return nullptr; }

  /// @throws Error(limit_exceeded) if a value of `bytes` bytes is larger than `max_bytes`.
  void require_size(std::size_t slot, std::uint64_t bytes) const;

  std::uint64_t max_bytes = ~std::uint64_t{0};  ///< limit in bytes of one value
  std::uint64_t copied_bytes = 0;               ///< bytes that a better order of the stages would not have copied

 protected:
  virtual std::byte* scratch(std::size_t bytes) = 0;
  /// Returns the destination of a value of this shape in the batch's field `number`, which is `Cell::row` - 1.
  virtual std::byte* destination(std::size_t number, const Shape& shape);
  /// Decodes a whole promised image to contiguous rows at `out`. The implementation in this class verifies all data of
  /// the image.
  virtual void decode(const Promise& promise, std::byte* out);

  /// Returns memory for a promise. The memory stays valid as long as the sample is being processed, and is aligned for
  /// any type.
  virtual std::byte* promise_memory(std::size_t bytes) { return scratch(bytes); }

 private:
  void give_promise(std::size_t slot, PromisedImage& image);
  void keep_promise(std::size_t slot);
};

}  // namespace detail

/// With a SampleBuilder, a source writes one record. The source names a field by its name or, faster, by its slot in
/// the source's schema. Every field of the schema must get a value once. Valid during the `read` that receives it; one
/// thread at a time.
class SampleBuilder {
 public:
  /// For code of the library.
  explicit SampleBuilder(detail::Cells& cells) : cells_(&cells), schema_(cells.schema) {}
  /// Makes a builder that fills some fields of `out`. A source that joins other sources gives each of them such a
  /// builder. The builder's fields are those of `schema`. Its slot i is slot `first` + i of `out`. The two slots must
  /// have the same dtype and shape. Their names may differ. `schema` must outlive the builder.
  SampleBuilder(const SampleBuilder& out, std::size_t first, const Schema& schema)
      : cells_(out.cells_), schema_(&schema), first_(out.first_ + first) {}

  /// The fields that the record must have.
  const Schema& schema() const noexcept { return *schema_; }

  /// Returns memory for a field's value, with undefined content. If no later stage changes the field, the memory is the
  /// sample's own row of the batch.
  /// @throws Error(schema_mismatch) if dtype, rank or shape differ from the schema; Error(limit_exceeded) if the value
  /// has no destination yet and is larger than `max_sample_bytes`.
  template <class T, std::size_t R>
  View<T, R> emplace(std::size_t slot, const Shape& shape) {
    check<T>(slot, R);
    return View<T, R>(reinterpret_cast<T*>(cells_->make(first_ + slot, shape)), shape);
  }
  /// Returns memory for the value of the field of that name.
  template <class T, std::size_t R>
  View<T, R> emplace(std::string_view field, const Shape& shape) {
    return emplace<T, R>(schema().slot(field), shape);
  }
  /// Returns memory for a field's value, like the other `emplace`. The caller need not know the field's dtype and rank.
  TensorView emplace(std::size_t slot, const Shape& shape) {
    return {cells_->make(first_ + slot, shape), schema()[slot].dtype, shape};
  }

  /// Writes a scalar field's value.
  /// @throws Error(schema_mismatch) if the dtype differs, or the field is not a scalar.
  template <class T>
  void scalar(std::size_t slot, T value) {
    check<T>(slot, 0);
    std::memcpy(cells_->make(first_ + slot, Shape{}), &value, sizeof(T));
  }
  /// Writes the value of the scalar field of that name.
  template <class T>
  void scalar(std::string_view field, T value) {
    scalar<T>(schema().slot(field), value);
  }

  /// Gives a field's value without copying it. `data` is contiguous bytes in the store's own memory (a memory map, an
  /// array). The bytes must stay unchanged until the next call of the reader's `read`. If `read` is const, they must
  /// stay unchanged as long as the source lives.
  void view(std::size_t slot, const std::byte* data, const Shape& shape);
  /// Gives the value of the field of that name without copying it.
  void view(std::string_view field, const std::byte* data, const Shape& shape) {
    view(schema().slot(field), data, shape);
  }
  /// Gives the value of a u8[?] field without copying it.
  void view(std::size_t slot, std::span<const std::byte> bytes) {
    view(slot, bytes.data(), Shape{static_cast<std::int64_t>(bytes.size())});
  }
  /// Gives the value of the u8[?] field of that name without copying it.
  void view(std::string_view field, std::span<const std::byte> bytes) { view(schema().slot(field), bytes); }

  /// Promises an image instead of giving its pixels: see PromisedImage. The field is [H, W, C] of u8 or u16.
  /// @throws Error(schema_mismatch) if dtype or shape differ from the schema.
  template <class P>
  void promise(std::size_t slot, const P& image) {
    static_assert(std::is_base_of_v<PromisedImage, P> && std::is_final_v<P>, "a final class, derived of PromisedImage");
    static_assert(std::is_trivially_destructible_v<P> && std::is_nothrow_copy_constructible_v<P>,
                  "it is copied, and never destroyed: let it hold pointers and numbers alone");
    static_assert(sizeof(P) <= 256 && alignof(P) <= alignof(std::max_align_t),
                  "a promise is small: let it point to what is large");
    cells_->promise(first_ + slot, image);
  }
  /// Promises an image for the field of that name.
  template <class P>
  void promise(std::string_view field, const P& image) {
    promise(schema().slot(field), image);
  }

  // Both are for code of the library.
  detail::Cells& cells() const noexcept { return *cells_; }   ///< The memory that the builder works on.
  std::size_t first_slot() const noexcept { return first_; }  ///< The slot of `cells()` that is the builder's slot 0.

  /// For code of the library: returns the value that was given to a field, for writing. If the value is a view into a
  /// store, copies it first.
  TensorView given(std::size_t slot) {
    std::byte* const data = cells_->own(first_ + slot);
    return {data, schema()[slot].dtype, cells_->cells[first_ + slot].shape};
  }

 private:
  template <class T>
  void check(std::size_t slot, std::size_t rank) const {
    const Field& field = schema()[slot];
    if (field.dtype != dtype_of<T> || field.shape.rank() != rank)
      cells_->refuse(first_ + slot, "write", dtype_of<T>, rank);
  }
  detail::Cells* cells_;
  const Schema* schema_;
  std::size_t first_ = 0;
};

inline void SampleBuilder::view(std::size_t slot, const std::byte* data, const Shape& shape) {
  detail::Cell& cell = cells_->cells[first_ + slot];
  const Field& field = schema()[slot];
  if (!field.shape.admits(shape))
    cells_->refuse(first_ + slot, "view of shape " + shape.to_string(), field.dtype, shape.rank());
  static constexpr std::byte nothing{};
  cell.data = data == nullptr && shape.elements() == 0 ? &nothing : data;  // null would mean that no value was given
  cell.promise = nullptr;
  cell.writable = false;
  cell.shape = shape;
}

/// One sample being processed: a tensor for each field of a schema. Transforms and sinks receive it. Valid during the
/// call that receives it; one thread at a time.
class Sample {
 public:
  /// For code of the library.
  explicit Sample(detail::Cells& cells) : cells_(&cells) {}

  /// The fields that the sample has at this stage.
  const Schema& schema() const noexcept { return *cells_->schema; }

  /// Returns a field's value. `view<const T, R>` is for reading and copies nothing. `view<T, R>` is for writing in
  /// place. If the value is a view into a store, it is copied first.
  /// @throws Error(schema_mismatch) if the field is missing, has no value, or has another dtype or rank.
  /// @throws what `EncodedImage::decode` throws if the value is a promised image.
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) {
    return view<T, R>(schema().slot(field));
  }
  /// Returns a field's value by its slot.
  template <class T, std::size_t R>
  View<T, R> view(std::size_t slot) {
    const Field& f = schema()[slot];
    if (f.dtype != dtype_of<T> || f.shape.rank() != R) cells_->refuse(slot, "view", dtype_of<T>, R);
    const detail::Cell& cell = cells_->cells[slot];
    if constexpr (std::is_const_v<T>) {
      return View<T, R>(reinterpret_cast<T*>(cells_->value(slot)), cell.shape);
    } else {
      return View<T, R>(reinterpret_cast<T*>(cells_->own(slot)), cell.shape);
    }
  }
  /// Returns a field's value for reading, from a const sample.
  template <class T, std::size_t R>
    requires std::is_const_v<T> View<T, R> view(std::string_view field)
  const {
    const std::size_t slot = schema().slot(field);
    const Field& f = schema()[slot];
    if (f.dtype != dtype_of<T> || f.shape.rank() != R) cells_->refuse(slot, "view", dtype_of<T>, R);
    return View<T, R>(reinterpret_cast<T*>(cells_->value(slot)), cells_->cells[slot].shape);
  }
  /// Returns dtype, shape and address of a field's value, for code that takes any field. Only for reading.
  TensorView tensor(std::size_t slot) const {
    std::byte* const data = const_cast<std::byte*>(cells_->value(slot));
    return {data, schema()[slot].dtype, cells_->cells[slot].shape};
  }
  /// Returns dtype, shape and address of the value of the field of that name. Only for reading.
  TensorView tensor(std::string_view field) const { return tensor(schema().slot(field)); }
  /// Returns a field's value as bytes.
  std::span<const std::byte> bytes(std::size_t slot) const {
    const TensorView t = tensor(slot);
    return {t.data, t.bytes()};
  }
  /// Returns the value of the field of that name as bytes.
  std::span<const std::byte> bytes(std::string_view field) const { return bytes(schema().slot(field)); }
  /// Returns a scalar field's value.
  /// @throws Error(schema_mismatch) like `view`.
  template <class T>
  T scalar(std::string_view field) const {
    return *tensor(field).as<const T, 0>().data();
  }

  /// Returns new memory for a field's value, with undefined content. Views of the old value stay readable until the
  /// transform returns.
  /// @throws Error(schema_mismatch) if dtype, rank or shape do not match the transform's schema; Error(limit_exceeded)
  /// if the value has no destination yet and is larger than `max_sample_bytes`.
  template <class T, std::size_t R>
  View<T, R> emplace(std::string_view field, const Shape& shape) {
    const std::size_t slot = schema().slot(field);
    if (schema()[slot].dtype != dtype_of<T> || schema()[slot].shape.rank() != R)
      cells_->refuse(slot, "write", dtype_of<T>, R);
    return View<T, R>(reinterpret_cast<T*>(cells_->make(slot, shape)), shape);
  }

 private:
  detail::Cells* cells_;
};

/// A record that owns its bytes: the result of `read_sample(source, i)` and `pipeline.at(position)`. For tests, tools
/// and debugging.
class PENSTOCK_API OwnedSample {
 public:
  /// Makes a record with the fields of `schema`, which have no values yet.
  explicit OwnedSample(Schema schema);
  OwnedSample(OwnedSample&&) noexcept;
  OwnedSample& operator=(OwnedSample&&) noexcept;
  ~OwnedSample();

  /// The record's fields.
  const Schema& schema() const noexcept;
  /// Returns a builder that writes to this record. `keep()` copies values that were given by `view`.
  SampleBuilder builder();
  /// Returns the record as transforms see it. Valid as long as this record.
  Sample sample();
  /// Copies each value that is still a view into a store, and decodes each promised image.
  /// @throws Error(schema_mismatch) if a field has no value.
  /// @throws what `EncodedImage::decode` throws.
  void keep();
  /// Returns a field's value.
  /// @throws Error(schema_mismatch) if there is no such field (the error lists the record's fields), or if the field
  /// has no value.
  TensorView operator[](std::string_view field) const;

 private:
  class Store;
  std::unique_ptr<Store> store_;
};

}  // namespace penstock
