// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/interop/dlpack.hpp>

namespace penstock {

/// Records that are already in memory: named arrays whose first dimension counts the records, and fields whose length
/// differs from record to record (`add_ragged`). Values are viewed, not copied. Copies of a Memory share the arrays.
/// While fields are added, only one thread may use it at a time; after that, any thread may. Arrays that belong to the
/// caller must stay unchanged while they are read. Adding a field throws Error(invalid_argument) if there is a field of
/// that name already.
///
/// A Memory has no identity. If two of them have the same size and fields, pipelines over them have the same
/// fingerprint, whatever the values. Each of these pipelines accepts the states of the other.
///
///     Memory train;
///     train.add<float>("x", {64}, std::move(values));     // values.size() == n * 64
///     train.add<std::int64_t>("y", {}, std::move(labels));
///     train.add_ragged<std::int32_t>("tokens", {}, texts);  // i32[?]; texts[i] has the tokens of record i
class Memory {
 public:
  /// Adds a field with records of the fixed shape `shape`.
  /// @throws Error(invalid_argument) if `values` does not have a whole number of records, or if the fields that were
  /// added before have another number of records.
  template <class T>
  Memory& add(std::string name, Shape shape, std::vector<T> values) {
    const std::uint64_t records = count_of("field \"" + name + "\"", values.size(), shape);
    auto owner = std::make_shared<Viewable<T>>(viewable(std::move(values)));
    const auto* data = reinterpret_cast<const std::byte*>(owner->data());
    return add({std::move(name), dtype_of<T>, shape}, data, records, std::move(owner));
  }
  /// Adds a field whose bytes belong to `owner`, or, without an owner, to the caller.
  /// @throws Error(invalid_argument) if the fields that were added before have another number of records.
  Memory& add(Field field, const std::byte* data, std::uint64_t records, std::shared_ptr<const void> owner = nullptr) {
    return add_column(std::move(field), {data, nullptr, 0, std::move(owner)}, records);
  }

  /// Adds the rows of another library's array [N, ...] in the host's memory. The array is kept, and must stay
  /// unchanged, as long as any copy of this Memory exists. The thread that destroys the last copy calls the array's
  /// deleter.
  /// @throws Error(invalid_argument) if the array has no dimensions, or if the fields that were added before have
  /// another number of records. Also what dlpack::Tensor::device throws.
  /// @throws Error(unsupported) if the array is on a device.
  Memory& add(std::string name, dlpack::Tensor tensor) {
    const TensorView view = view_on_host(name, tensor);
    if (view.shape.rank() == 0)
      throw Error(Errc::invalid_argument, "field \"" + name + "\" is one number; its first dimension counts records");
    return add({std::move(name), view.dtype, Shape(view.shape.dims().subspan(1))}, view.data,
               static_cast<std::uint64_t>(view.shape[0]), std::make_shared<dlpack::Tensor>(std::move(tensor)));
  }

  /// Adds a field of the shape [?, ...], whose first dimension differs from record to record. `records[i]` has the
  /// values of record i, and may be empty. `shape` is the shape of one element of the first dimension: {} makes the
  /// field [?], {4} makes it [?, 4]. The values are copied once. Memory: the values, and 8 bytes per record.
  /// @throws Error(invalid_argument) if a record does not have a whole number of elements, or if the fields that were
  /// added before have another number of records.
  template <class T>
  Memory& add_ragged(std::string name, Shape shape, const std::vector<std::vector<T>>& records) {
    std::vector<std::int64_t> offsets{0};
    std::vector<T> values;
    for (const std::vector<T>& record : records) {
      const std::string what = "record " + std::to_string(offsets.size() - 1) + " of field \"" + name + "\"";
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(count_of(what, record.size(), shape)));
      values.insert(values.end(), record.begin(), record.end());
    }
    return add_ragged(std::move(name), shape, std::move(values), std::move(offsets));
  }
  /// Adds a field of the shape [?, ...] without a copy. `values` has the values of all records, one record after the
  /// other, and the shape [offsets.back(), shape...]. Record i has the elements from `offsets[i]` up to, but without,
  /// `offsets[i + 1]`. So N records need N + 1 offsets.
  /// @throws Error(invalid_argument), which names the offset, if
  /// - the first offset is not 0, or an offset is less than the one before it;
  /// - the last offset is not the number of elements.
  /// @throws Error(invalid_argument) if the fields that were added before have another number of records.
  template <class T>
  Memory& add_ragged(std::string name, Shape shape, std::vector<T> values, std::vector<std::int64_t> offsets) {
    check_end(name, offsets, count_of("field \"" + name + "\"", values.size(), shape));
    struct Owner {
      Viewable<T> values;
      std::vector<std::int64_t> offsets;
    };
    auto owner = std::make_shared<Owner>(Owner{viewable(std::move(values)), std::move(offsets)});
    const auto* data = reinterpret_cast<const std::byte*>(owner->values.data());
    const std::span<const std::int64_t> ends = owner->offsets;
    return add_ragged({std::move(name), dtype_of<T>, ragged_shape(shape)}, data, ends, std::move(owner));
  }
  /// Adds a field of the shape [?, ...] whose bytes and offsets belong to `owner`, or, without an owner, to the caller.
  /// `data` has the elements of all records, one record after the other. The first dimension of the field's shape is
  /// `dynamic`, and no other one.
  /// @throws Error(invalid_argument) if the field has another shape; and for wrong offsets or numbers of records like
  /// the other `add_ragged`. The last offset is believed.
  Memory& add_ragged(Field field, const std::byte* data, std::span<const std::int64_t> offsets,
                     std::shared_ptr<const void> owner = nullptr) {
    const std::span<const std::int64_t> dims = field.shape.dims();
    if (dims.empty() || dims[0] != dynamic || !Shape(dims.subspan(1)).fixed())
      throw Error(Errc::invalid_argument, "field \"" + field.name + "\" has the shape " + field.shape.to_string() +
                                              "; a ragged field has a dynamic first dimension, and no other one");
    check_offsets(field.name, offsets);
    return add_column(std::move(field), {data, offsets.data(), 0, std::move(owner)}, offsets.size() - 1);
  }
  /// Adds a field of the shape [?, ...] from another library's arrays in the host's memory: values [total, ...] and
  /// offsets i64 [N + 1]. The arrays are kept, and must stay unchanged, like the array of `add`.
  /// @throws Error(invalid_argument) if the values have no dimensions, or the offsets are not i64 [N + 1]; and for
  /// wrong offsets or numbers of records like the other `add_ragged`. Also what dlpack::Tensor::device throws.
  /// @throws Error(unsupported) if an array is on a device.
  Memory& add_ragged(std::string name, dlpack::Tensor values, dlpack::Tensor offsets) {
    const TensorView data = view_on_host(name, values), ends = view_on_host(name, offsets);
    if (data.shape.rank() == 0)
      throw Error(Errc::invalid_argument, "field \"" + name + "\" is one number; its first dimension counts elements");
    if (ends.dtype != DType::i64 || ends.shape.rank() != 1)
      throw Error(Errc::invalid_argument, "the offsets of field \"" + name + "\" are " +
                                              std::string(to_string(ends.dtype)) + ends.shape.to_string() +
                                              "; they must be i64 [N + 1]");
    const std::span numbers(reinterpret_cast<const std::int64_t*>(ends.data), static_cast<std::size_t>(ends.shape[0]));
    check_end(name, numbers, static_cast<std::uint64_t>(data.shape[0]));
    auto owner = std::make_shared<std::pair<dlpack::Tensor, dlpack::Tensor>>(std::move(values), std::move(offsets));
    return add_ragged({std::move(name), data.dtype, ragged_shape(Shape(data.shape.dims().subspan(1)))}, data.data,
                      numbers, std::move(owner));
  }

  /// Number of records; 0 before a field is added.
  std::uint64_t size() const noexcept { return size_; }
  /// The fields in the order in which they were added.
  Schema schema() const { return schema_; }
  /// The source's name in errors and `plan()`.
  std::string name() const { return "memory"; }
  /// Gives views of a record's values. @throws Error(not_found) past the end.
  void read(std::uint64_t i, SampleBuilder& out) const {
    if (i >= size_) [[unlikely]]
      throw Error(Errc::not_found, "there are " + std::to_string(size_) + " records")
          .with_source("memory")
          .with_index(i);
    for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
      const Column& column = columns_[slot];
      if (column.offsets == nullptr) {
        out.view(slot, column.data + i * column.bytes, schema_[slot].shape);
        continue;
      }
      Shape shape = schema_[slot].shape;
      shape[0] = column.offsets[i + 1] - column.offsets[i];
      out.view(slot, column.data + static_cast<std::size_t>(column.offsets[i]) * column.bytes, shape);
    }
  }

 private:
  struct Column {
    const std::byte* data;
    const std::int64_t* offsets;  // null for fields of a fixed shape
    std::size_t bytes;            // per record; with offsets, per element of the first dimension
    std::shared_ptr<const void> owner;
  };

  // A vector of bool stores bits, and can't be viewed.
  template <class T>
  using Viewable = std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;
  template <class T>
  static Viewable<T> viewable(std::vector<T> values) {
    if constexpr (std::is_same_v<T, bool>)
      return {values.begin(), values.end()};
    else
      return values;
  }

  static std::uint64_t count_of(const std::string& what, std::size_t values, const Shape& shape) {
    const std::uint64_t each = shape.elements();
    if (each == 0 || values % each != 0)
      throw Error(Errc::invalid_argument, what + " has " + std::to_string(values) +
                                              " elements, which is not a multiple of its shape " + shape.to_string());
    return values / each;
  }
  static Shape ragged_shape(const Shape& element) {
    std::vector<std::int64_t> dims{dynamic};
    dims.insert(dims.end(), element.dims().begin(), element.dims().end());
    return Shape(std::span<const std::int64_t>(dims));
  }

  static TensorView view_on_host(const std::string& name, const dlpack::Tensor& tensor) {
    if (tensor.device() != host())
      throw Error(Errc::unsupported, "field \"" + name + "\" lies on " + to_string(tensor.device()) +
                                         "; copy it to the host's memory first");
    return tensor.view();
  }

  [[noreturn]] static void refuse_offset(const std::string& name, std::size_t number, std::int64_t offset,
                                         const std::string& must) {
    throw Error(Errc::invalid_argument, "offset " + std::to_string(number) + " of field \"" + name + "\" is " +
                                            std::to_string(offset) + "; it must be " + must);
  }
  static void check_offsets(const std::string& name, std::span<const std::int64_t> offsets) {
    if (offsets.empty())
      throw Error(Errc::invalid_argument, "field \"" + name + "\" has no offsets; N records have N + 1 offsets");
    if (offsets[0] != 0) refuse_offset(name, 0, offsets[0], "0");
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] < offsets[i - 1])
        refuse_offset(name, i, offsets[i], "at least the offset before it, which is " + std::to_string(offsets[i - 1]));
  }
  static void check_end(const std::string& name, std::span<const std::int64_t> offsets, std::uint64_t elements) {
    check_offsets(name, offsets);
    if (static_cast<std::uint64_t>(offsets.back()) != elements)
      refuse_offset(name, offsets.size() - 1, offsets.back(),
                    "the number of elements, which is " + std::to_string(elements));
  }

  Memory& add_column(Field field, Column column, std::uint64_t records) {
    if (schema_.find(field.name))
      throw Error(Errc::invalid_argument,
                  "there is a field \"" + field.name + "\" already; give this one another name");
    if (!schema_.fields().empty() && records != size_)
      throw Error(Errc::invalid_argument, "field \"" + field.name + "\" has " + std::to_string(records) +
                                              " records; the fields before it have " + std::to_string(size_));
    Shape each = field.shape;
    if (column.offsets != nullptr) each[0] = 1;
    column.bytes = each.elements() * size_of(field.dtype);
    schema_ = schema_.with(std::move(field));
    columns_.push_back(std::move(column));
    size_ = records;
    return *this;
  }

  std::uint64_t size_ = 0;
  Schema schema_;
  std::vector<Column> columns_;
};

}  // namespace penstock
