// SPDX-License-Identifier: Apache-2.0
#include "cursor.hpp"

#include <array>
#include <bit>
#include <cstring>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common::json {

namespace {

constexpr std::uint64_t each = 0x0101010101010101;

// Returns a word whose lowest set bit is in the first of eight bytes that ends a run of plain characters: a quote, a
// backslash, a control character, or a byte that is not ASCII. All bits are 0 if there is no such byte.
std::uint64_t not_plain(const char* at) noexcept {
  static_assert(std::endian::native == std::endian::little, "the first character is in a word's lowest byte");
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const auto zeros = [](std::uint64_t bytes) { return (bytes - each) & ~bytes; };
  return (zeros(word ^ each * '"') | zeros(word ^ each * '\\') | ((word - each * ' ') & ~word) | word) & each * 0x80;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// Returns the number of the four hexadecimal digits at `at`, which were checked.
std::uint32_t code_unit(const char* at) noexcept {
  std::uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) unit = unit << 4 | static_cast<std::uint32_t>(hex_digit(at[i]));
  return unit;
}

void add_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

// Returns the length of the valid UTF-8 sequence of at least two bytes at `at`, or 0.
std::size_t utf8_bytes(const char* at, const char* end) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < static_cast<std::size_t>(end - at) ? static_cast<unsigned char>(at[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    // Shorter forms exist for the first ones; the last ones are halves of surrogate pairs.
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4 || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return follows(1) && follows(2) && follows(3) ? 4 : 0;
}

}  // namespace

std::string_view to_words(Kind kind) noexcept {
  constexpr std::array<std::string_view, 6> words{"an object", "an array", "a text", "a number", "a boolean", "null"};
  return words[static_cast<std::size_t>(kind)];
}

void Cursor::fail(const std::string& what) const {
  throw Error(Errc::corrupt, "it is not JSON: " + what).with_offset(offset());
}

void Cursor::fail_at_value() const {
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  if (rest.empty()) fail_at_end("where a value was expected");
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
    if (rest.starts_with(word)) fail(std::string(word) + " is not a number of JSON; write null");
  fail("a value was expected, not '" + printable(rest.substr(0, 12), 60) + "'");
}

void Cursor::fail_at_end(const std::string& where) const {
  fail(whole_ == Whole::line ? "the line ends " + where + "; each line must be one whole object"
                             : "the file ends " + where + "; a part of it is missing");
}

void Cursor::space() noexcept {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

Kind Cursor::peek() {
  space();
  switch (next()) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::text;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      if (!is_digit(next()) && (next() != '-' || (end_ - at_ > 1 && !is_digit(at_[1])))) fail_at_value();
      return Kind::number;
  }
}

Text Cursor::text() {
  Text found{.raw = {}, .escaped = false, .offset = offset()};
  const char* const begin = ++at_;
  for (;;) {
    while (static_cast<std::size_t>(end_ - at_) >= sizeof(std::uint64_t)) {
      if (const std::uint64_t bits = not_plain(at_); bits != 0) {
        at_ += std::countr_zero(bits) / 8;
        break;
      }
      at_ += sizeof(std::uint64_t);
    }
    if (at_ == end_ || (whole_ == Whole::line && *at_ == '\n')) fail_at_end("inside a text");
    if (*at_ == '"') break;
    if (*at_ == '\\') {
      found.escaped = true;
      escape();
    } else {
      character();
    }
  }
  found.raw = {begin, static_cast<std::size_t>(at_ - begin)};
  ++at_;
  return found;
}

void Cursor::character() {
  const auto first = static_cast<unsigned char>(*at_);
  if (first < 0x20)
    fail("a text has the control character " + std::to_string(first) + ", which must be written as an escape");
  const std::size_t bytes = first < 0x80 ? 1 : utf8_bytes(at_, end_);
  if (bytes == 0) fail("a text is not UTF-8");
  at_ += bytes;
}

void Cursor::escape() {
  ++at_;
  const char kind = next();
  if (at_ == end_ || std::string_view("\"\\/bfnrtu").find(kind) == std::string_view::npos)
    fail("a backslash in a text is followed by none of \" \\ / b f n r t u");
  ++at_;
  if (kind != 'u') return;
  for (int i = 0; i < 4; ++i, ++at_)
    if (hex_digit(next()) < 0) fail("\\u in a text is not followed by four hexadecimal digits");
}

void Cursor::digits() {
  if (!is_digit(next())) fail("a number lacks a digit");
  while (is_digit(next())) ++at_;
}

std::string_view Cursor::number() {
  const char* const begin = at_;
  if (next() == '-') ++at_;
  if (next() == '0') {
    ++at_;
    if (is_digit(next())) fail("a number begins with a zero");
  } else {
    digits();
  }
  if (next() == '.') {
    ++at_;
    digits();
  }
  if (next() == 'e' || next() == 'E') {
    ++at_;
    if (next() == '+' || next() == '-') ++at_;
    digits();
  }
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

void Cursor::literal(std::string_view word) {
  if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) fail_at_value();
  at_ += word.size();
}

bool Cursor::boolean() {
  const bool yes = *at_ == 't';
  literal(yes ? "true" : "false");
  return yes;
}

Text Cursor::name() {
  space();
  if (at_ == end_) fail_at_end("inside an object");
  if (next() != '"') fail("a member's name in quotes was expected");
  const Text name = text();
  space();
  if (next() != ':') fail("':' was expected after a member's name");
  ++at_;
  return name;
}

bool Cursor::closes(char bracket) {
  space();
  if (next() != bracket) return false;
  ++at_;
  return true;
}

bool Cursor::goes_on(char bracket) {
  if (closes(bracket)) return false;
  if (at_ == end_) fail_at_end(bracket == '}' ? "inside an object" : "inside an array");
  if (next() != ',') fail(std::string("',' or '") + bracket + "' was expected");
  ++at_;
  return true;
}

void Cursor::skip() {
  std::array<char, max_depth> brackets{};  // the closing brackets that are awaited
  std::size_t depth = 0;
  for (;;) {
    // A value begins here.
    const Kind kind = peek();
    if (kind == Kind::object || kind == Kind::array) {
      if (depth == max_depth)
        throw Error(Errc::limit_exceeded, "it is nested more deeply than " + std::to_string(max_depth) + " levels")
            .with_offset(offset());
      const char bracket = kind == Kind::object ? '}' : ']';
      ++at_;
      if (!closes(bracket)) {
        brackets[depth++] = bracket;
        if (bracket == '}') name();
        continue;
      }
    } else if (kind == Kind::text) {
      text();
    } else if (kind == Kind::number) {
      number();
    } else if (kind == Kind::boolean) {
      boolean();
    } else {
      null();
    }
    while (depth != 0 && !goes_on(brackets[depth - 1])) --depth;
    if (depth == 0) return;
    if (brackets[depth - 1] == '}') name();
  }
}

void Cursor::end() {
  space();
  if (at_ == end_) return;
  fail(whole_ == Whole::line ? "text follows the object; each line must be one object" : "text follows the object");
}

std::string_view characters(const Text& text, std::string& buffer) {
  if (!text.escaped) return text.raw;
  buffer.clear();
  const char* const end = text.raw.data() + text.raw.size();
  for (const char* at = text.raw.data(); at != end;) {
    const auto* const escape = static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
    const char* const stop = escape == nullptr ? end : escape;
    buffer.append(at, stop);
    if (escape == nullptr) break;
    constexpr std::string_view kinds = "bfnrt", meant = "\b\f\n\r\t";
    at = escape + 2;
    if (escape[1] != 'u') {
      const std::size_t kind = kinds.find(escape[1]);
      buffer += kind == kinds.npos ? escape[1] : meant[kind];
      continue;
    }
    std::uint32_t code = code_unit(at);
    at += 4;
    if (code >= 0xd800 && code < 0xe000) {
      const bool pair = code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u';
      const std::uint32_t low = pair ? code_unit(at + 2) : 0;
      if (low < 0xdc00 || low >= 0xe000)
        throw Error(Errc::corrupt,
                    "\\" + std::string(escape + 1, 5) + " is half of a character, without the other half");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      at += 6;
    }
    add_utf8(buffer, code);
  }
  return buffer;
}

}  // namespace penstock::common::json
