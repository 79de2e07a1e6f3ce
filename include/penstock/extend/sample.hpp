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

/// What a field's pixels are decoded from, and, where they are not yet, where they belong: what the field's cell said
/// of its destination when they were promised.
struct Promise {
  EncodedImage* image = nullptr;
  ImageShape shape;
  std::byte* destination = nullptr;
  std::uint32_t row = 0;
  std::size_t slot = 0;                ///< number of the field in the source's schema
  const std::string* stage = nullptr;  ///< label of the stage that decodes it; null: the source promised it
};

/// Where one field of the sample in work is. The engine sets `destination` to the field's row in the batch before the
/// stage that makes its final value runs.
struct Cell {
  const std::byte* data = nullptr;   ///< the value; null until something wrote it, or while it is promised
  std::byte* destination = nullptr;  ///< where the next writer must put it; null = anywhere
  bool writable = false;             ///< false: a view into a store's own memory
  std::uint32_t row = 0;             ///< not 0: the destination is known when the shape is; 1 + the field of the batch
  /// Promise of the value, where `data` is null; else what it was decoded from, while that is all that was done to it.
  const Promise* promise = nullptr;
  Shape shape;
};

/// What a Sample and a SampleBuilder stand on: the cells of one runner, and its scratch memory.
class PENSTOCK_API Cells {
 public:
  virtual ~Cells() = default;
  const Schema* schema = nullptr;  ///< the fields at this point of the chain
  std::vector<Cell> cells;         ///< one per field of `schema`

  /// Memory for a new value of the field; checks shape against the schema, and the size of one that varies against the
  /// limit. Its destination, if the field has one now.
  std::byte* make(std::size_t slot, const Shape& shape);
  /// The value for writing: as it is, or, for a view into a store, a copy made now. Nobody knows then what was done to
  /// it.
  std::byte* own(std::size_t slot);
  /// The value, for reading: the one door to it. A promised one is decoded now. @throws Error where there is none.
  const std::byte* value(std::size_t slot) {
    if (cells[slot].data == nullptr) [[unlikely]]
      keep_promise(slot);
    return cells[slot].data;
  }
  /// True where there is a value, or the promise of one.
  bool given(std::size_t slot) const noexcept { return cells[slot].data != nullptr || cells[slot].promise != nullptr; }
  /// A promise instead of a value.
  template <class P>
  void promise(std::size_t slot, const P& image) {
    give_promise(slot, *::new (promise_memory(sizeof(P))) P(image));
  }
  [[noreturn]] void refuse(std::size_t slot, std::string_view what, DType asked, std::size_t rank) const;
  [[noreturn]] void missing(std::size_t slot) const;

  /// @throws Error(limit_exceeded) for a value of more than `max_bytes`.
  void require_size(std::size_t slot, std::uint64_t bytes) const;

  std::uint64_t max_bytes = ~std::uint64_t{0};  ///< bytes that one value may have
  std::uint64_t copied_bytes = 0;               ///< bytes copied that a better-placed stage would not have copied

 protected:
  virtual std::byte* scratch(std::size_t bytes) = 0;
  /// The destination of a value of this shape, as field `row` of the batch.
  virtual std::byte* destination(std::size_t row, const Shape& shape);
  /// Decodes all of a promised image to contiguous rows at `out`. Everything is verified, if nothing else is said.
  virtual void decode(const Promise& promise, std::byte* out);

  /// Memory for a promise: stays as long as the sample in work, aligned for any type.
  virtual std::byte* promise_memory(std::size_t bytes) { return scratch(bytes); }

 private:
  void give_promise(std::size_t slot, PromisedImage& image);
  void keep_promise(std::size_t slot);
};

}  // namespace detail

/// What a source writes one record through. Fields are named, or, faster, given by their slot in the source's schema.
/// Every field of the schema must be given, once. Valid during the `read` it is handed to; one thread at a time.
class SampleBuilder {
 public:
  /// For code of the library.
  explicit SampleBuilder(detail::Cells& cells) : cells_(&cells), schema_(cells.schema) {}
  /// A builder for some fields of `out`, for a source that lets another one give them: those from slot `first` on, as
  /// many as `schema` has, numbered from 0 and named as there. They must agree in dtype and shape; names may differ.
  /// `schema` must outlive the builder.
  SampleBuilder(const SampleBuilder& out, std::size_t first, const Schema& schema)
      : cells_(out.cells_), schema_(&schema), first_(out.first_ + first) {}

  /// The fields that the record must be given.
  const Schema& schema() const noexcept { return *schema_; }

  /// Memory to write a field's value into: the sample's own row of the batch wherever no later stage changes the
  /// field. Its content is undefined. @throws Error(schema_mismatch) when dtype, rank or shape differ from the schema.
  template <class T, std::size_t R>
  View<T, R> emplace(std::size_t slot, const Shape& shape) {
    check<T>(slot, R);
    return View<T, R>(reinterpret_cast<T*>(cells_->make(first_ + slot, shape)), shape);
  }
  /// Memory to write the value of the field of that name into, as `emplace` by slot.
  template <class T, std::size_t R>
  View<T, R> emplace(std::string_view field, const Shape& shape) {
    return emplace<T, R>(schema().slot(field), shape);
  }
  /// Memory to write a field's value into, without naming its dtype and rank, as typed `emplace`.
  TensorView emplace(std::size_t slot, const Shape& shape) {
    return {cells_->make(first_ + slot, shape), schema()[slot].dtype, shape};
  }

  /// Writes a scalar field's value. @throws Error(schema_mismatch) for another dtype, or a field that is no scalar.
  template <class T>
  void scalar(std::size_t slot, T value) {
    check<T>(slot, 0);
    std::memcpy(cells_->make(first_ + slot, Shape{}), &value, sizeof(T));
  }
  /// Writes the value of the scalar field of that name, as `scalar` by slot.
  template <class T>
  void scalar(std::string_view field, T value) {
    scalar<T>(schema().slot(field), value);
  }

  /// Gives a field's value without copying it: contiguous bytes in the store's own memory (a memory map, an array).
  /// They must stay as they are until the reader is asked for its next record, or, where `read` is const, as long as
  /// the source lives.
  void view(std::size_t slot, const std::byte* data, const Shape& shape);
  /// Gives the value of the field of that name without copying it, as `view` by slot.
  void view(std::string_view field, const std::byte* data, const Shape& shape) {
    view(schema().slot(field), data, shape);
  }
  /// Gives the value of a field of bytes, u8[?], without copying them, as `view` of any shape.
  void view(std::size_t slot, std::span<const std::byte> bytes) {
    view(slot, bytes.data(), Shape{static_cast<std::int64_t>(bytes.size())});
  }
  /// Gives the value of the field of bytes, u8[?], of that name, without copying them.
  void view(std::string_view field, std::span<const std::byte> bytes) { view(schema().slot(field), bytes); }

  /// Promises an image instead of its pixels: see PromisedImage. The field is [H, W, C] of u8 or u16.
  /// @throws Error(schema_mismatch) when dtype or shape differ from the schema.
  template <class P>
  void promise(std::size_t slot, const P& image) {
    static_assert(std::is_base_of_v<PromisedImage, P> && std::is_final_v<P>, "a final class, derived of PromisedImage");
    static_assert(std::is_trivially_destructible_v<P> && std::is_nothrow_copy_constructible_v<P>,
                  "it is copied, and never destroyed: let it hold pointers and numbers alone");
    static_assert(sizeof(P) <= 256 && alignof(P) <= alignof(std::max_align_t),
                  "a promise is small: let it point to what is large");
    cells_->promise(first_ + slot, image);
  }
  /// Promises an image for the field of that name, as `promise` by slot.
  template <class P>
  void promise(std::string_view field, const P& image) {
    promise(schema().slot(field), image);
  }

  /// For code of the library: the value that was given to a field, for writing. A view into a store is copied first.
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

/// One record in work: a flat row of tensors that match a schema. Handed to transforms and sinks; valid during that
/// call; one thread at a time.
class Sample {
 public:
  /// For code of the library.
  explicit Sample(detail::Cells& cells) : cells_(&cells) {}

  /// The fields it has where the stage stands.
  const Schema& schema() const noexcept { return *cells_->schema; }

  /// A field's value. `view<const T, R>` reads it where it lies; `view<T, R>` writes it in place (a view into a store
  /// is copied first). @throws Error(schema_mismatch) when the field is missing or of another dtype or rank.
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) {
    return view<T, R>(schema().slot(field));
  }
  /// A field's value by its slot, as `view` by name.
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
  /// A field's value, to read from a sample that is const.
  template <class T, std::size_t R>
    requires std::is_const_v<T> View<T, R> view(std::string_view field)
  const {
    const std::size_t slot = schema().slot(field);
    const Field& f = schema()[slot];
    if (f.dtype != dtype_of<T> || f.shape.rank() != R) cells_->refuse(slot, "view", dtype_of<T>, R);
    return View<T, R>(reinterpret_cast<T*>(cells_->value(slot)), cells_->cells[slot].shape);
  }
  /// Dtype, shape and address, for code that takes any field. Reading only.
  TensorView tensor(std::size_t slot) const {
    std::byte* const data = const_cast<std::byte*>(cells_->value(slot));
    return {data, schema()[slot].dtype, cells_->cells[slot].shape};
  }
  /// Dtype, shape and address of the field of that name, for code that takes any field. Reading only.
  TensorView tensor(std::string_view field) const { return tensor(schema().slot(field)); }
  /// A field's value as bytes.
  std::span<const std::byte> bytes(std::size_t slot) const {
    const TensorView t = tensor(slot);
    return {t.data, t.bytes()};
  }
  /// The value of the field of that name as bytes.
  std::span<const std::byte> bytes(std::string_view field) const { return bytes(schema().slot(field)); }
  /// A scalar field's value. @throws Error(schema_mismatch) as `view`.
  template <class T>
  T scalar(std::string_view field) const {
    return *tensor(field).as<const T, 0>().data();
  }

  /// New memory for a field's value, its content undefined; views of the old value stay readable until the transform
  /// returns. @throws Error(schema_mismatch) when it does not match the transform's schema.
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

/// A record that owns its bytes: `read_sample(source, i)`, `pipeline.at(position)`. For tests, tools and debugging.
class PENSTOCK_API OwnedSample {
 public:
  /// A record of that schema whose fields are not given yet.
  explicit OwnedSample(Schema schema);
  OwnedSample(OwnedSample&&) noexcept;
  OwnedSample& operator=(OwnedSample&&) noexcept;
  ~OwnedSample();

  /// The fields it has.
  const Schema& schema() const noexcept;
  /// Writes through to this record; a `view` given to the builder is copied by `keep()`.
  SampleBuilder builder();
  /// The record as transforms see it. Valid as long as this.
  Sample sample();
  /// Copies whatever is still a view into a store.
  void keep();
  /// A field's value. @throws Error(schema_mismatch) that lists the fields there are.
  TensorView operator[](std::string_view field) const;

 private:
  class Store;
  std::unique_ptr<Store> store_;
};

}  // namespace penstock
