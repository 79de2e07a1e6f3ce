// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/json_lines.hpp>

#include "common/lines/record_text.hpp"
#include "common/numbers/numbers.hpp"
#include "cursor.hpp"
#include "errors.hpp"
#include "member_tree.hpp"
#include "numbers_of.hpp"
#include "source_impl.hpp"

namespace penstock {

class JsonLinesReader::Impl {
 public:
  using Store = JsonLinesSource::Impl;

  explicit Impl(std::shared_ptr<const Store> store) : store_(std::move(store)), walk_(store_->plan.members) {}

  void expect(std::span<const std::uint64_t> indices) const noexcept { store_->records.expect(indices); }

  void read(std::uint64_t index, SampleBuilder& out) {
    const common::RecordFiles::Location location = store_->records.location_of(index);
    try {
      give(text_.read(store_->records, location), out);
    } catch (const Error& error) {
      throw store_->records.error_of(location, index, error);
    }
  }

 private:
  void give(std::string_view text, SampleBuilder& out) {
    const json::FieldPlan& plan = store_->plan;
    walk_.go(text, [&](std::size_t node, json::Cursor& cursor) {
      const json::Cursor begin = cursor;
      for (const std::size_t slot : plan.slots_of[node]) {
        cursor = begin;
        give_value(slot, cursor, out);
      }
    });
    for (std::size_t slot = 0; slot < plan.fields.size(); ++slot)
      if (!walk_.saw(plan.node_of[slot])) give_missing(slot, "there is no such member", std::nullopt, out);
  }

  void give_value(std::size_t slot, json::Cursor& cursor, SampleBuilder& out) {
    const JsonField& field = store_->plan.fields[slot];
    const json::Kind kind = cursor.peek();
    const std::uint64_t offset = cursor.offset();
    if (kind == json::Kind::null) {
      give_missing(slot, "it is null", offset, out);
      cursor.null();
    } else if (field.type == JsonType::number) {
      give_numbers(slot, cursor, out);
    } else {
      if (kind != json::Kind::text) refuse(slot, "is " + std::string(json::to_words(kind)) + ", not a text", offset);
      give_text(slot, cursor.text(), offset, out);
    }
  }

  void give_text(std::size_t slot, const json::Text& value, std::uint64_t offset, SampleBuilder& out) {
    std::string_view text;
    try {
      text = json::characters(value, buffer_);
    } catch (const Error& error) {
      refuse(slot, "has a text that is not UTF-8: " + error.cause(), offset);
    }
    if (store_->plan.fields[slot].type == JsonType::text) {
      const TensorView to = out.emplace(slot, Shape{static_cast<std::int64_t>(text.size())});
      if (!text.empty()) std::memcpy(to.data, text.data(), text.size());
      return;
    }
    const common::ClassWords& words = store_->plan.words[slot];
    const std::optional<std::int64_t> number = words.number(text);
    if (!number)
      refuse(slot, "\"" + json::printable(text) + "\" is not one of its " + words.classes().to_string(), offset);
    out.scalar<std::int64_t>(slot, *number);
  }

  void give_numbers(std::size_t slot, json::Cursor& cursor, SampleBuilder& out) {
    const JsonField& field = store_->plan.fields[slot];
    const std::size_t rank = field.shape.rank();
    Shape shape = field.shape;
    if (!shape.fixed()) {
      json::Cursor ahead = cursor;
      shape = shape_at(slot, ahead);
    }
    std::byte* to = out.emplace(slot, shape).data;
    if (rank == 0) return give_number(slot, cursor, to);
    give_array(slot, cursor, shape, 0, to);
  }

  // Returns the shape of the arrays at the cursor, which passes them.
  Shape shape_at(std::size_t slot, json::Cursor& cursor) const {
    const Shape& wanted = store_->plan.fields[slot].shape;
    const std::uint64_t offset = (cursor.peek(), cursor.offset());
    std::array<std::int64_t, json::max_rank> dims{-1, -1, -1};
    const auto pass = [](json::Cursor& c) { c.skip(); };
    try {
      json::measure(cursor, wanted.rank(), dims, pass);
    } catch (const Error& error) {
      if (error.cause().starts_with("has ")) refuse(slot, error.cause(), error.offset().value_or(offset));
      throw;
    }
    Shape shape = wanted;
    // An empty array has no arrays whose length could be counted.
    for (std::size_t k = 0; k < wanted.rank(); ++k)
      if (wanted[k] == dynamic) shape[k] = std::max<std::int64_t>(dims[k], 0);
    return shape;
  }

  void give_array(std::size_t slot, json::Cursor& cursor, const Shape& shape, std::size_t level, std::byte*& to) {
    const json::Kind kind = cursor.peek();
    const std::uint64_t offset = cursor.offset();
    if (kind != json::Kind::array)
      refuse(slot, "has " + std::string(json::to_words(kind)) + " where an array was expected", offset);
    const auto refuse_length = [&](const std::string& length) {
      refuse(slot, "has an array of " + length + " where " + std::to_string(shape[level]) + " were expected", offset);
    };
    std::int64_t length = 0;
    cursor.each_element([&] {
      if (length++ == shape[level]) refuse_length("more elements");
      if (level + 1 < shape.rank()) return give_array(slot, cursor, shape, level + 1, to);
      give_number(slot, cursor, to);
      to += size_of(store_->plan.fields[slot].dtype);
    });
    if (length != shape[level]) refuse_length(std::to_string(length) + " elements");
  }

  void give_number(std::size_t slot, json::Cursor& cursor, std::byte* to) {
    const DType dtype = store_->plan.fields[slot].dtype;
    const json::Kind kind = cursor.peek();
    const std::uint64_t offset = cursor.offset();
    if (kind == json::Kind::boolean) {
      if (!json::store_boolean(cursor.boolean(), dtype, to))
        refuse(slot, "is a boolean, and not " + std::string(to_string(dtype)) + "; read it as u8", offset);
    } else if (kind == json::Kind::null) {
      const std::optional<double>& value = store_->options.missing_value;
      if (!value || !common::store_number(*value, dtype, to))
        refuse(slot, "has a null; `missing_value` would stand for it", offset);
      cursor.null();
    } else if (kind == json::Kind::number) {
      const std::string_view token = cursor.number();
      if (const common::NumberFault fault = json::store_token(token, dtype, to); fault != common::NumberFault::none)
        refuse_number(slot, token, fault, offset);
    } else {
      refuse(slot, "is " + std::string(json::to_words(kind)) + ", not a number", offset);
    }
  }

  [[noreturn]] void refuse_number(std::size_t slot, std::string_view token, common::NumberFault fault,
                                  std::uint64_t offset) const {
    const DType dtype = store_->plan.fields[slot].dtype;
    const std::string number = json::printable(token);
    if (fault == common::NumberFault::rounded)
      refuse(slot,
             number + " is a whole number, which " + std::string(to_string(dtype)) + " would round; read it as " +
                 common::whole_number_types(token),
             offset);
    if (fault == common::NumberFault::out_of_range)
      refuse(slot, number + " is outside the range of " + std::string(to_string(dtype)), offset);
    refuse(slot, number + " is not " + std::string(common::describe_number(dtype)), offset);
  }

  void give_missing(std::size_t slot, const std::string& why, std::optional<std::uint64_t> offset, SampleBuilder& out) {
    const JsonField& field = store_->plan.fields[slot];
    const bool scalar = field.type == JsonType::number && field.shape.rank() == 0;
    const std::optional<double>& value = store_->options.missing_value;
    if (scalar && value && common::store_number(*value, field.dtype, out.emplace(slot, Shape{}).data)) return;
    refuse(slot, "is missing: " + why + (scalar ? "; `missing_value` would stand for it" : ""), offset);
  }

  [[noreturn]] void refuse(std::size_t slot, const std::string& why, std::optional<std::uint64_t> offset) const {
    Error error(Errc::corrupt, "member \"" + json::printable(store_->plan.fields[slot].member) + "\": " + why);
    throw offset ? error.with_offset(*offset) : error;
  }

  std::shared_ptr<const Store> store_;
  json::MemberWalk walk_;
  common::RecordText text_;
  std::string buffer_;
};

JsonLinesReader::JsonLinesReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
JsonLinesReader::~JsonLinesReader() = default;
void JsonLinesReader::expect(std::span<const std::uint64_t> indices) noexcept { impl_->expect(indices); }
void JsonLinesReader::read(std::uint64_t index, SampleBuilder& out) { impl_->read(index, out); }

std::unique_ptr<JsonLinesReader> JsonLinesSource::open_reader() const {
  return std::unique_ptr<JsonLinesReader>(new JsonLinesReader(std::make_unique<JsonLinesReader::Impl>(impl_)));
}

}  // namespace penstock
