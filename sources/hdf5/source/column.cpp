// SPDX-License-Identifier: Apache-2.0
#include "source/column.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "library/element.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

using Form = ElementFacts::Form;

void swap_bytes(std::byte* values, std::size_t bytes, std::size_t element) noexcept {
  for (std::byte* value = values; value != values + bytes; value += element) std::reverse(value, value + element);
}

// Makes each value 0 or 1, as a bool must be. Files may have other values.
void make_truth(std::span<std::byte> values) noexcept {
  for (std::byte& value : values) value = std::byte{value != std::byte{0}};
}

std::string column_name(const std::string& member) { return member.empty() ? "" : "column '" + member + "': "; }

}  // namespace

Column::Column(const Dataset& dataset, const Hdf5Field& wanted, std::string name)
    : access_(&dataset.access()), member_(wanted.member), stride_(dataset.element_bytes()) {
  try {
    element_ = access_->element(dataset.number(), member_);
  } catch (const Error& failed) {
    throw dataset.error(failed.code(), column_name(member_) + failed.cause());
  }
  require_inside(dataset);
  std::vector<std::int64_t> shape;
  for (const std::uint64_t d : dataset.dims().subspan(1)) {
    count_ *= d;
    shape.push_back(static_cast<std::int64_t>(d));
  }
  const bool varies = !element_.shape.fixed();
  if (varies && count_ != 1)
    throw dataset.error(Errc::unsupported, column_name(member_) + "a row has " + std::to_string(count_) +
                                               " strings or sequences; a field takes one");
  if (varies) shape.clear();
  shape.insert(shape.end(), element_.shape.dims().begin(), element_.shape.dims().end());
  if (wanted.squeeze) std::erase(shape, 1);
  if (shape.size() > Shape::max_rank)
    throw dataset.error(Errc::unsupported, "a record has " + std::to_string(shape.size()) +
                                               " dimensions, more than the 8 a field can have");
  field_ = {std::move(name), element_.dtype, Shape(std::span<const std::int64_t>(shape))};
}

// Checks what the library reports about the column. Later code relies on this check.
void Column::require_inside(const Dataset& dataset) const {
  const auto bytes_of = [&] {
    std::uint64_t bytes = size_of(element_.dtype);
    for (const std::int64_t d : element_.shape.dims()) {
      const auto n = static_cast<std::uint64_t>(d);
      bytes = n != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / n ? 0 : bytes * n;
    }
    return bytes;
  };
  const bool any_length = element_.shape == Shape{dynamic};
  bool right = element_.offset <= stride_ && element_.bytes <= stride_ - element_.offset &&
               (!member_.empty() || (element_.offset == 0 && element_.bytes == stride_));
  switch (element_.form) {
    case Form::same:
    case Form::swapped:
    case Form::truth:
      right = right && element_.shape.fixed() && bytes_of() == element_.bytes;
      break;
    case Form::converted:
      // A stored number takes at most 16 times the bytes of the number to which it is converted.
      right = right && element_.shape.fixed() && bytes_of() != 0 && element_.bytes / 16 <= bytes_of();
      break;
    case Form::text:
      right = right && any_length && element_.dtype == DType::u8;
      break;
    case Form::variable:
      right = right && any_length && dataset.way() == Hdf5Way::rows;
      break;
  }
  if (!right) throw dataset.error(Errc::corrupt, column_name(member_) + "its type is not to be believed");
}

void Column::give(std::span<const std::byte> row, bool stays, std::size_t slot, SampleBuilder& out) const {
  give(row.data() + (row.empty() ? 0 : element_.offset), stride_, stays, slot, out);
}

void Column::give(const std::byte* values, std::size_t stride, bool stays, std::size_t slot, SampleBuilder& out) const {
  if (element_.form == Form::text) {
    const std::string_view all(reinterpret_cast<const char*>(values), element_.bytes);
    const std::span<const std::byte> text(values, without_padding(all, element_.padding).size());
    if (stays) return out.view(slot, text);
    const TensorView to = out.emplace(slot, {static_cast<std::int64_t>(text.size())});
    if (!text.empty()) std::memcpy(to.data, text.data(), text.size());
    return;
  }
  if (stride == element_.bytes && element_.form == Form::same && stays) return out.view(slot, values, field_.shape);
  put(values, stride, out.emplace(slot, field_.shape));
}

void Column::put(const std::byte* values, std::size_t stride, const TensorView& to) const {
  const bool together = stride == element_.bytes;
  const std::size_t bytes = count_ * element_.bytes;
  if (bytes == 0) return;
  if (element_.form == Form::converted) return convert(values, stride, to);
  if (together)
    std::memcpy(to.data, values, bytes);
  else
    for (std::uint64_t i = 0; i < count_; ++i)
      std::memcpy(to.data + i * element_.bytes, values + i * stride, element_.bytes);
  if (element_.form == Form::swapped) swap_bytes(to.data, bytes, size_of(element_.dtype));
  if (element_.form == Form::truth) make_truth({to.data, bytes});
}

void Column::convert(const std::byte* values, std::size_t stride, const TensorView& to) const {
  std::vector<std::byte> work(count_ * element_.bytes);
  for (std::uint64_t i = 0; i < count_; ++i)
    std::memcpy(work.data() + i * element_.bytes, values + i * stride, element_.bytes);
  try {
    access_->convert(element_.number, count_, work, {to.data, to.bytes()});
  } catch (const Error& failed) {
    throw Error(failed.code(), "field '" + field_.name + "': its values can't be converted: " + failed.cause());
  }
}

bool Column::gives_keys() const noexcept {
  if (variable()) return element_.string;
  if (element_.form == Form::text) return true;
  return field_.shape.rank() == 0 && field_.dtype != DType::boolean && is_whole(field_.dtype);
}

void Column::append_key(const std::byte* value, std::string& to) const {
  if (element_.form == Form::text) {
    const std::string_view all(reinterpret_cast<const char*>(value), element_.bytes);
    to += without_padding(all, element_.padding);
    return;
  }
  std::uint64_t number = 0;
  const auto bytes = reinterpret_cast<std::byte*>(&number);
  put(value, element_.bytes, {bytes, field_.dtype, {}});
  const auto add = [&]<class T>(T as) {
    std::memcpy(&as, bytes, sizeof as);
    to += std::to_string(as);
  };
  switch (field_.dtype) {
    case DType::i8:
      return add(std::int8_t{});
    case DType::i16:
      return add(std::int16_t{});
    case DType::i32:
      return add(std::int32_t{});
    case DType::i64:
      return add(std::int64_t{});
    default:
      to += std::to_string(number);  // the upper bytes are 0 if the type is smaller
  }
}

void Column::read(const Dataset& dataset, std::uint64_t row, bool verify_checksum, std::size_t slot,
                  SampleBuilder& out) const {
  if (variable()) return read_variable(dataset, row, verify_checksum, slot, out);
  if (element_.form == Form::text) {
    std::vector<std::byte> text(element_.bytes);
    read_column_of_rows(dataset, element_.number, row, 1, verify_checksum, text);
    return give(text.data(), element_.bytes, false, slot, out);
  }
  // Takes the sample's memory first. So a row that is too large for a sample is refused before other memory is
  // allocated for the row.
  const TensorView to = out.emplace(slot, field_.shape);
  if (is_row()) return read_column_of_rows(dataset, element_.number, row, 1, verify_checksum, {to.data, to.bytes()});
  std::vector<std::byte> values(count_ * element_.bytes);
  read_column_of_rows(dataset, element_.number, row, 1, verify_checksum, values);
  put(values.data(), element_.bytes, to);
}

void Column::read_variable(const Dataset& dataset, std::uint64_t row, bool verify_checksum, std::size_t slot,
                           SampleBuilder& out) const {
  std::span<std::byte> value;
  read_variable_row(dataset, element_.number, row, verify_checksum, [&](std::uint64_t length) {
    const TensorView to = out.emplace(slot, {static_cast<std::int64_t>(length)});
    return value = std::span(to.data, to.bytes());
  });
  if (element_.dtype == DType::boolean) make_truth(value);
}

}  // namespace penstock::hdf5
