// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/interop/dlpack.hpp>

namespace penstock {

/// Records that are already in memory: named arrays whose first dimension counts the records. Values are viewed, not
/// copied. Copies of a Memory share the arrays. While fields are added, only one thread may use it at a time; after
/// that, any thread may. Arrays that belong to the caller must stay unchanged while they are read.
///
/// A Memory has no identity. If two of them have the same size and fields, pipelines over them have the same
/// fingerprint, whatever the values. Each of these pipelines accepts the states of the other.
///
///     Memory train;
///     train.add<float>("x", {64}, std::move(values));     // values.size() == n * 64
///     train.add<std::int64_t>("y", {}, std::move(labels));
class Memory {
 public:
  /// Adds a field with records of the fixed shape `shape`.
  /// @throws Error(invalid_argument) if `values` does not have a whole number of records, or if the fields that were
  /// added before have another number of records.
  template <class T>
  Memory& add(std::string name, Shape shape, std::vector<T> values) {
    const std::uint64_t each = shape.elements();
    if (each == 0 || values.size() % each != 0)
      throw Error(Errc::invalid_argument, "field \"" + name + "\" has " + std::to_string(values.size()) +
                                              " elements, which is not a multiple of its shape " + shape.to_string());
    auto owner = [&values] {
      if constexpr (std::is_same_v<T, bool>)  // a vector of bool stores bits, and can't be viewed
        return std::make_shared<std::vector<std::uint8_t>>(values.begin(), values.end());
      else
        return std::make_shared<std::vector<T>>(std::move(values));
    }();
    const auto* data = reinterpret_cast<const std::byte*>(owner->data());
    const std::uint64_t records = owner->size() / each;
    return add({std::move(name), dtype_of<T>, shape}, data, records, std::move(owner));
  }
  /// Adds a field whose bytes belong to `owner`, or, without an owner, to the caller.
  /// @throws Error(invalid_argument) if the fields that were added before have another number of records.
  Memory& add(Field field, const std::byte* data, std::uint64_t records, std::shared_ptr<const void> owner = nullptr) {
    if (!schema_.fields().empty() && records != size_)
      throw Error(Errc::invalid_argument, "field \"" + field.name + "\" has " + std::to_string(records) +
                                              " records; the fields before it have " + std::to_string(size_));
    const std::size_t bytes = field.shape.elements() * size_of(field.dtype);
    size_ = records;
    schema_ = schema_.with(std::move(field));
    columns_.push_back({data, bytes, std::move(owner)});
    return *this;
  }

  /// Adds the rows of another library's array [N, ...] in the host's memory. The array is kept, and must stay
  /// unchanged, as long as any copy of this Memory exists. The thread that destroys the last copy calls the array's
  /// deleter.
  /// @throws Error(invalid_argument) if the array has no dimensions, or if the fields that were added before have
  /// another number of records. Also what dlpack::Tensor::device throws.
  /// @throws Error(unsupported) if the array is on a device.
  Memory& add(std::string name, dlpack::Tensor tensor) {
    const TensorView view = tensor.view();
    if (tensor.device() != host())
      throw Error(Errc::unsupported, "field \"" + name + "\" lies on " + to_string(tensor.device()) +
                                         "; copy it to the host's memory first");
    if (view.shape.rank() == 0)
      throw Error(Errc::invalid_argument, "field \"" + name + "\" is one number; its first dimension counts records");
    return add({std::move(name), view.dtype, Shape(view.shape.dims().subspan(1))}, view.data,
               static_cast<std::uint64_t>(view.shape[0]), std::make_shared<dlpack::Tensor>(std::move(tensor)));
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
    for (std::size_t slot = 0; slot < columns_.size(); ++slot)
      out.view(slot, columns_[slot].data + i * columns_[slot].bytes, schema_[slot].shape);
  }

 private:
  struct Column {
    const std::byte* data;
    std::size_t bytes;
    std::shared_ptr<const void> owner;
  };
  std::uint64_t size_ = 0;
  Schema schema_;
  std::vector<Column> columns_;
};

}  // namespace penstock
