#include "column.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace penstock::hdf5 {

namespace {

using Form = Element::Form;

void swap_bytes(std::byte* values, std::size_t bytes, std::size_t element) noexcept {
  for (std::byte* value = values; value != values + bytes; value += element) std::reverse(value, value + element);
}

// A bool must be 0 or 1; files may hold anything.
void make_truth(std::span<std::byte> values) noexcept {
  for (std::byte& value : values) value = std::byte{value != std::byte{0}};
}

std::string column_name(const std::string& member) { return member.empty() ? "" : "column '" + member + "': "; }

}  // namespace

Column::Column(const Dataset& dataset, const Hdf5Field& wanted, std::string name)
    : member_(wanted.member), stride_(dataset.element_bytes()) {
  const LibraryLock lock;
  try {
    element_ = element_of(dataset.type(), member_);
  } catch (const NoElement& none) {
    throw dataset.error(none.no_member ? Errc::not_found : Errc::unsupported, column_name(member_) + none.reason);
  }
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
  alone_ = nested_in(element_.path, variable() ? element_.memory.get() : element_.stored.get());
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
  const bool together = stride == element_.bytes;
  if (together && element_.form == Form::same && stays) return out.view(slot, values, field_.shape);
  const TensorView to = out.emplace(slot, field_.shape);
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
  const std::size_t wide = std::max<std::size_t>(element_.bytes, to.bytes() / count_);
  std::vector<std::byte> work(count_ * wide);
  for (std::uint64_t i = 0; i < count_; ++i)
    std::memcpy(work.data() + i * element_.bytes, values + i * stride, element_.bytes);
  const LibraryLock lock;
  if (H5Tconvert(element_.stored.get(), element_.memory.get(), count_, work.data(), nullptr, H5P_DEFAULT) < 0)
    throw Error(Errc::unsupported, "field '" + field_.name + "': its values can't be converted: " + library_says());
  std::memcpy(to.data, work.data(), to.bytes());
}

void Column::read(const Dataset& dataset, std::uint64_t row, bool verify_checksum, std::size_t slot,
                  SampleBuilder& out) const {
  if (variable()) return read_variable(dataset, row, verify_checksum, slot, out);
  if (is_row()) {
    const TensorView to = out.emplace(slot, field_.shape);
    return read_row_as(dataset, row, alone_.get(), verify_checksum, {to.data, to.bytes()});
  }
  std::vector<std::byte> values(count_ * element_.bytes);
  read_row_as(dataset, row, alone_.get(), verify_checksum, values);
  give(values.data(), element_.bytes, false, slot, out);
}

void Column::read_variable(const Dataset& dataset, std::uint64_t row, bool verify_checksum, std::size_t slot,
                           SampleBuilder& out) const {
  union {
    char* text;
    hvl_t sequence;
  } value{};
  const std::size_t bytes = element_.text ? sizeof value.text : sizeof value.sequence;
  const LibraryLock lock;  // the library's memory is given back under it as well
  read_row_as(dataset, row, alone_.get(), verify_checksum, {reinterpret_cast<std::byte*>(&value), bytes});
  const hsize_t one = 1;
  const Handle space = own_space(H5Screate_simple(1, &one, nullptr));
  struct Reclaim {
    hid_t type, space;
    void* value;
    ~Reclaim() { H5Dvlen_reclaim(type, space, H5P_DEFAULT, value); }
  } reclaim{alone_.get(), space.get(), &value};
  const void* data = element_.text ? value.text : value.sequence.p;
  const std::size_t length = !element_.text ? value.sequence.len : value.text == nullptr ? 0 : std::strlen(value.text);
  const TensorView to = out.emplace(slot, {static_cast<std::int64_t>(length)});
  if (to.bytes() == 0) return;
  std::memcpy(to.data, data, to.bytes());
  if (element_.dtype == DType::boolean) make_truth({to.data, to.bytes()});
}

}  // namespace penstock::hdf5
