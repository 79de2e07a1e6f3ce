// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::common::json {

/// What a value is, from its first character.
enum class Kind : std::uint8_t { object, array, text, number, boolean, null };

/// Returns "an object", "a text", ...
std::string_view to_words(Kind kind) noexcept;

/// A string of JSON, as a view of the text.
struct Text {
  std::string_view raw;    ///< between the quotes
  bool escaped = false;    ///< `raw` has escapes
  std::size_t offset = 0;  ///< offset of the opening quote
};

/// Goes through one JSON text (RFC 8259) from left to right. Every byte that is passed is checked, for the
/// grammar and for UTF-8. Copies continue at the same place. Takes no memory, and time proportional to the bytes.
/// All functions throw Error(corrupt), with the offset, if the text is not JSON.
class Cursor {
 public:
  /// Number of levels that `skip` allows.
  static constexpr std::size_t max_depth = 512;

  /// What the text is, for messages.
  enum class Whole : std::uint8_t {
    line,  ///< a line, which has one object
    file,  ///< a file with line ends anywhere
  };

  /// Starts at `offset`, which must not be beyond the text's end.
  explicit Cursor(std::string_view text, Whole whole = Whole::line, std::size_t offset = 0) noexcept
      : begin_(text.data()), at_(text.data() + offset), end_(text.data() + text.size()), whole_(whole) {}

  /// Returns the kind of the next value, and moves to it.
  Kind peek();
  /// Returns the offset of the current place in the text.
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  /// Passes a string. REQUIRES: `peek` returned `text`.
  Text text();
  /// Passes a number, and returns it as it is written. REQUIRES: `peek` returned `number`.
  std::string_view number();
  /// Passes a boolean. REQUIRES: `peek` returned `boolean`.
  bool boolean();
  /// Passes a null. REQUIRES: `peek` returned `null`.
  void null() { literal("null"); }
  /// Passes a value of any kind. @throws Error(limit_exceeded) if it is nested more deeply than `max_depth`.
  void skip();

  /// Passes an object, and calls `member` with each name; `member` passes the value. REQUIRES: `peek` returned
  /// `object`.
  template <class F>
  void each_member(F member) {
    ++at_;
    if (closes('}')) return;
    do member(name());
    while (goes_on('}'));
  }
  /// Passes an array, and calls `element` for each element, which passes it. REQUIRES: `peek` returned `array`.
  template <class F>
  void each_element(F element) {
    ++at_;
    if (closes(']')) return;
    do element();
    while (goes_on(']'));
  }
  /// Requires that nothing but space follows.
  void end();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at_value() const;
  [[noreturn]] void fail_at_end(const std::string& where) const;
  void space() noexcept;
  char next() const noexcept { return at_ == end_ ? '\0' : *at_; }
  Text name();
  bool closes(char bracket);
  bool goes_on(char bracket);
  void literal(std::string_view word);
  void digits();
  void escape();
  void character();

  const char *begin_, *at_, *end_;
  Whole whole_;
};

/// Returns the string's characters, in `buffer` if it has escapes. @throws Error(corrupt), without an offset, if it has
/// half of a surrogate pair, which is not a character.
std::string_view characters(const Text& text, std::string& buffer);

}  // namespace penstock::common::json
