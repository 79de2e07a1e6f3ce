// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

#include "common/json/cursor.hpp"

namespace penstock::detection {

/// One object in a list of the file: "annotations[17]". Reads some of its members, and names entry, member and offset
/// in errors, which are Error(corrupt) without the file. One thread at a time.
class CocoEntry {
 public:
  /// Keeps references to `cursor` and to the text of `list`. REQUIRES: the cursor is at a value.
  CocoEntry(common::json::Cursor& cursor, std::string_view list, std::uint64_t number)
      : cursor_(cursor), list_(list), number_(number) {}

  /// Passes the object. Calls `member` with the position in `names` of each member that has such a name. The cursor is
  /// at the member's value, which `member` must pass. Other members are skipped.
  /// @throws Error(corrupt) if the value is not an object, or a member of `names` comes twice.
  template <class F>
  void each_member(std::span<const std::string_view> names, F member) {
    require(common::json::Kind::object);
    cursor_.each_member([&](const common::json::Text& name) {
      const std::size_t found = find(names, name);
      if (found == names.size()) return cursor_.skip();
      member_ = names[found];
      if ((seen_ >> found & 1) != 0) refuse("comes twice", name.offset);
      seen_ |= std::uint32_t{1} << found;
      member(found);
      member_ = {};
    });
  }
  /// Requires that the object had the first `count` of `names`. @throws Error(corrupt).
  void require_members(std::span<const std::string_view> names, std::size_t count, std::uint64_t offset);

  /// Requires a kind of value, and moves to it. Returns its offset.
  std::uint64_t require(common::json::Kind kind);
  /// Passes a whole number of 64 bits.
  std::int64_t whole_number();
  /// Passes a number that is finite as f32.
  double number();
  /// Passes 0, 1, false or true.
  bool flag();
  /// Passes a string, and returns its characters, which are valid until the next call.
  std::string_view text();
  /// Passes an array, and calls `element` for each element, which passes it.
  template <class F>
  void each_element(F element) {
    require(common::json::Kind::array);
    cursor_.each_element(element);
  }

  /// Throws an error about the entry, or about its member if one is being read.
  [[noreturn]] void refuse(const std::string& why, std::uint64_t offset, Errc code = Errc::corrupt) const;

  common::json::Cursor& cursor() noexcept { return cursor_; }

 private:
  std::size_t find(std::span<const std::string_view> names, const common::json::Text& name);

  common::json::Cursor& cursor_;
  std::string_view list_, member_;
  std::uint64_t number_;
  std::uint32_t seen_ = 0;
  std::string buffer_;
};

}  // namespace penstock::detection
