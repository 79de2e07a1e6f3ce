// SPDX-License-Identifier: Apache-2.0
#include "coco/coco_entry.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

#include "errors.hpp"

namespace penstock::detection {

namespace json = common::json;

std::size_t CocoEntry::find(std::span<const std::string_view> names, const json::Text& name) {
  std::string_view text = name.raw;
  if (name.escaped) {
    try {
      text = json::characters(name, buffer_);
    } catch (const Error&) {
      return names.size();  // half of a character: no member has that name
    }
  }
  std::size_t found = 0;
  while (found < names.size() && names[found] != text) ++found;
  return found;
}

void CocoEntry::require_members(std::span<const std::string_view> names, std::size_t count, std::uint64_t offset) {
  for (std::size_t i = 0; i < count; ++i)
    if ((seen_ >> i & 1) == 0) refuse("there is no member \"" + std::string(names[i]) + "\"", offset);
}

std::uint64_t CocoEntry::require(json::Kind kind) {
  const json::Kind found = cursor_.peek();
  if (found != kind)
    refuse("is " + std::string(json::to_words(found)) + ", not " + std::string(json::to_words(kind)), cursor_.offset());
  return cursor_.offset();
}

std::int64_t CocoEntry::whole_number() {
  const std::uint64_t offset = require(json::Kind::number);
  const std::string_view token = cursor_.number();
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (end != token.data() + token.size()) refuse("is " + shown(token) + ", not a whole number", offset);
  if (failed != std::errc()) refuse(shown(token) + " has more than 64 bits", offset);
  return number;
}

double CocoEntry::number() {
  const std::uint64_t offset = require(json::Kind::number);
  const std::string_view token = cursor_.number();
  double number = 0;
  const auto [end, failed] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (failed != std::errc() || end != token.data() + token.size() || !std::isfinite(static_cast<float>(number)))
    refuse(shown(token) + " is outside the range of f32", offset);
  return number;
}

bool CocoEntry::flag() {
  if (cursor_.peek() == json::Kind::boolean) return cursor_.boolean();
  const std::uint64_t offset = cursor_.offset();
  const std::int64_t number = whole_number();
  if (number != 0 && number != 1) refuse("is " + std::to_string(number) + ", not 0 or 1", offset);
  return number == 1;
}

std::string_view CocoEntry::text() {
  const std::uint64_t offset = require(json::Kind::text);
  try {
    return json::characters(cursor_.text(), buffer_);
  } catch (const Error& error) {
    if (error.offset()) throw;
    refuse("is not UTF-8: " + error.cause(), offset);
  }
}

void CocoEntry::refuse(const std::string& why, std::uint64_t offset, Errc code) const {
  const std::string entry = std::string(list_) + "[" + std::to_string(number_) + "]: ";
  const std::string member = member_.empty() ? "" : "member \"" + std::string(member_) + "\": ";
  throw Error(code, entry + member + why).with_offset(offset);
}

}  // namespace penstock::detection
