// SPDX-License-Identifier: Apache-2.0
#include <penstock/schema.hpp>

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

Schema::Schema(std::initializer_list<Field> fields) : fields_(fields) { check(); }
Schema::Schema(std::vector<Field> fields) : fields_(std::move(fields)) { check(); }

namespace {

// Returns the index of the first field that has the name of an earlier field.
std::optional<std::size_t> first_repeated(std::span<const Field> fields) {
  // Schemas with few fields are made often, so their check must not allocate.
  constexpr std::size_t few = 16;
  if (fields.size() <= few) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (fields[i].name == fields[j].name) return i;
    return std::nullopt;
  }
  std::vector<std::pair<std::string_view, std::size_t>> names;
  names.reserve(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) names.emplace_back(fields[i].name, i);
  std::sort(names.begin(), names.end());
  std::optional<std::size_t> first;
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i - 1].first == names[i].first) first = std::min(first.value_or(fields.size()), names[i].second);
  return first;
}

}  // namespace

void Schema::check() const {
  const auto no_name = std::find_if(fields_.begin(), fields_.end(), [](const Field& f) { return f.name.empty(); });
  if (const auto twice = first_repeated({fields_.begin(), no_name}))
    throw Error(Errc::invalid_argument, "two fields are named \"" + fields_[*twice].name + "\"");
  if (no_name != fields_.end())
    throw Error(Errc::invalid_argument, "field " + std::to_string(no_name - fields_.begin()) + " has no name");
  for (const Field& field : fields_)
    if (!field.classes.empty() && !is_whole(field.dtype))
      throw Error(Errc::invalid_argument, "field \"" + field.name + "\" is " +
                                              std::string(penstock::to_string(field.dtype)) +
                                              ", and only whole numbers stand for classes");
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (fields_[i].name == name) return i;
  return std::nullopt;
}

std::size_t Schema::slot(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  throw Error(Errc::schema_mismatch, "there is no field \"" + std::string(name) + "\"; the fields are " + to_string());
}

Schema Schema::with(Field field) const {
  std::vector<Field> fields = fields_;
  if (const auto found = find(field.name)) {
    fields[*found] = std::move(field);
  } else {
    fields.push_back(std::move(field));
  }
  return Schema(std::move(fields));
}

Schema Schema::without(std::string_view name) const {
  std::vector<Field> fields = fields_;
  fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(slot(name)));
  return Schema(std::move(fields));
}

std::string Schema::to_string() const {
  std::string out = "{";
  for (const Field& f : fields_) {
    if (out.size() > 1) out += ", ";
    out += f.name;
    out += ": ";
    out += penstock::to_string(f.dtype);
    out += f.shape.to_string();
  }
  return out + "}";
}

namespace {

// Returns the C++ type of an element, as a program writes it.
std::string_view element_type_name(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return "std::uint8_t";
    case DType::i8:
      return "std::int8_t";
    case DType::u16:
      return "std::uint16_t";
    case DType::i16:
      return "std::int16_t";
    case DType::u32:
      return "std::uint32_t";
    case DType::i32:
      return "std::int32_t";
    case DType::u64:
      return "std::uint64_t";
    case DType::i64:
      return "std::int64_t";
    case DType::f16:
      return "Half";
    case DType::bf16:
      return "BFloat16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

// Says what the tensor is, what was asked for, and which `View` is right.
std::string mismatch_text(DType asked, std::size_t asked_rank, DType have, const Shape& shape) {
  const auto words = [](DType dtype, std::size_t rank) {
    return std::string(to_string(dtype)) + " of rank " + std::to_string(rank);
  };
  return " is " + std::string(to_string(have)) + shape.to_string() + ", but was asked for as " +
         words(asked, asked_rank) + "; it is " + words(have, shape.rank()) + ", a View<" +
         std::string(element_type_name(have)) + ", " + std::to_string(shape.rank()) + ">";
}

}  // namespace

void detail::throw_view_mismatch(DType asked, std::size_t asked_rank, DType have, const Shape& shape) {
  throw Error(Errc::schema_mismatch, "the tensor" + mismatch_text(asked, asked_rank, have, shape));
}

void detail::throw_field_mismatch(std::string_view field, DType asked, std::size_t asked_rank, DType have,
                                  const Shape& shape) {
  throw Error(Errc::schema_mismatch,
              "field \"" + std::string(field) + "\" of the batch" + mismatch_text(asked, asked_rank, have, shape));
}

}  // namespace penstock
