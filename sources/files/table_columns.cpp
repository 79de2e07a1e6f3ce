// SPDX-License-Identifier: Apache-2.0
#include "table_columns.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/tables/text_lines.hpp"

namespace penstock::files {

namespace {

constexpr std::string_view file_column = "file", label_column = "label";

void append_cell(std::string& line, std::string_view text) {
  const bool spaced = !text.empty() && (common::is_space(text.front()) || common::is_space(text.back()));
  if (!spaced && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

template <class T>
void append_number(std::string& line, T value) {
  std::array<char, 32> text;
  if constexpr (std::floating_point<T>)
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();  // makes every NaN "nan", never "-nan"
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value);
  line.append(text.data(), end);
}

template <class T>
T scalar_of(const TensorView& value) {
  return *value.as<const T, 0>().data();
}

void append_float(std::string& line, const TensorView& value) {
  if (value.dtype == DType::f16)
    append_number(line, from_half(scalar_of<Half>(value).bits));
  else if (value.dtype == DType::bf16)
    append_number(line, from_bfloat16(scalar_of<BFloat16>(value).bits));
  else if (value.dtype == DType::f32)
    append_number(line, scalar_of<float>(value));
  else
    append_number(line, scalar_of<double>(value));
}

// Calls `act` with the value, which must be a whole number or a boolean.
template <class Act>
void with_whole_number(const TensorView& value, const Act& act) {
  switch (value.dtype) {
    case DType::u8:
      return act(scalar_of<std::uint8_t>(value));
    case DType::i8:
      return act(scalar_of<std::int8_t>(value));
    case DType::u16:
      return act(scalar_of<std::uint16_t>(value));
    case DType::i16:
      return act(scalar_of<std::int16_t>(value));
    case DType::u32:
      return act(scalar_of<std::uint32_t>(value));
    case DType::i32:
      return act(scalar_of<std::int32_t>(value));
    case DType::u64:
      return act(scalar_of<std::uint64_t>(value));
    case DType::boolean:
      return act(value.data[0] != std::byte{0} ? 1 : 0);
    default:
      return act(scalar_of<std::int64_t>(value));
  }
}

std::string in_quotes(std::string_view text) { return "\"" + printable(text) + "\""; }

// Returns the field's class names. The table has them as labels, so they must be different, and must not be only white
// space, which readers treat as no label.
std::unordered_set<std::string_view> checked_names(const Field& field) {
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw Error(Errc::invalid_argument,
                "the table has classes by their names, and " + what + " of the field " + in_quotes(field.name) + " " +
                    why + "; give other names, or none, so that the table has the numbers (name_classes)");
  };
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < field.classes.size(); ++i) {
    const std::string& name = field.classes[i];
    if (name.find_first_not_of(" \t") == std::string::npos) refuse("class " + std::to_string(i), "has none");
    if (!names.insert(name).second) refuse("two classes", "are named " + in_quotes(name));
  }
  return names;
}

}  // namespace

TableColumns::TableColumns(const Schema& schema, const std::string& image) : image_slot_(schema.slot(image)) {
  const Field& bytes = schema[image_slot_];
  if (bytes.dtype != DType::u8 || bytes.shape.rank() != 1 || bytes.shape.fixed())
    throw Error(Errc::schema_mismatch, "the field " + in_quotes(image) +
                                           " becomes a file, so it must be the bytes of "
                                           "one, u8[?], and is " +
                                           std::string(to_string(bytes.dtype)) + bytes.shape.to_string() +
                                           "; encode it (encode_jpeg, encode_png), or name another `field`");
  for (const bool labels : {true, false})
    for (std::size_t slot = 0; slot < schema.size(); ++slot) {
      const Field& field = schema[slot];
      if (slot == image_slot_ || (field.name == label_column) != labels) continue;
      if (field.shape.rank() != 0)
        throw Error(Errc::unsupported, "the table has single values, and the field " + in_quotes(field.name) + " is " +
                                           std::string(to_string(field.dtype)) + field.shape.to_string() +
                                           "; leave it out (drop_fields), or write to another store");
      if (field.name == file_column)
        throw Error(Errc::invalid_argument,
                    "the table's column \"file\" has the names of files; give that field another name (rename)");
      columns_.push_back({slot, field, {}});
    }
  append_cell(header_, file_column);
  for (Column& column : columns_) {
    column.names = checked_names(column.field);
    header_ += ',';
    append_cell(header_, column.field.name);
  }
  header_ += '\n';
}

// The text is unambiguous, because no name of a field or class is empty, and `escaped` leaves no line end in a name.
std::string TableColumns::classes_text() const {
  std::string text;
  for (const Column& column : columns_) {
    if (column.field.classes.empty()) continue;
    text += escaped(column.field.name) + "\n";
    for (const std::string& name : column.field.classes) text += escaped(name) + "\n";
    text += "\n";
  }
  return text;
}

const std::string& TableColumns::line(std::string_view file, const Sample& sample) {
  line_.clear();
  append_cell(line_, file);
  for (const Column& column : columns_) {
    line_ += ',';
    append_value(column, sample.tensor(column.slot));
  }
  line_ += '\n';
  return line_;
}

void TableColumns::append_value(const Column& column, const TensorView& value) {
  if (!is_whole(value.dtype)) return append_float(line_, value);
  const ClassNames& classes = column.field.classes;
  const std::size_t begin = line_.size();
  const auto append_whole = [&](auto number) {
    if (std::cmp_greater_equal(number, 0) && std::cmp_less(number, classes.size()))
      return append_cell(line_, classes[static_cast<std::size_t>(number)]);
    if (value.dtype == DType::boolean)
      line_ += number != 0 ? "true" : "false";
    else
      append_number(line_, number);
    const std::string text = line_.substr(begin);
    if (column.names.contains(text))
      throw Error(Errc::invalid_argument, "the number " + text + " of the field " + in_quotes(column.field.name) +
                                              " stands for no class, and the name of one is the same text; give the "
                                              "classes other names, or none (name_classes)");
  };
  with_whole_number(value, append_whole);
}

}  // namespace penstock::files
