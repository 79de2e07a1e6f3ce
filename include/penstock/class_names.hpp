// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Names of the classes that a field's whole numbers stand for: number i is the class `names()[i]`. Two classes may
/// have the same name, as in some published lists. An immutable value whose copies share the names. Any thread.
class PENSTOCK_API ClassNames {
 public:
  /// No names: the meaning of the numbers is not known.
  ClassNames() = default;
  /// Names of the numbers from 0 on. An empty list means no names.
  ClassNames(std::vector<std::string> names);  // NOLINT(google-explicit-constructor): callers may pass a list
  /// Names of the numbers from 0 on: `{"ant", "bee"}`.
  ClassNames(std::initializer_list<std::string> names) : ClassNames(std::vector<std::string>(names)) {}

  /// Reads names from a text with one name per line, number 0 first. An empty line is an empty name. Leaves out
  /// a byte order mark at the beginning, and a carriage return at the end of a line.
  static ClassNames from_lines(std::string_view text);

  /// True if there are no names: the meaning of the numbers is not known.
  bool empty() const noexcept { return names_ == nullptr; }
  /// Number of classes.
  std::size_t size() const noexcept { return names().size(); }
  /// Name of class `number`, which must be below `size()`.
  const std::string& operator[](std::size_t number) const noexcept { return names()[number]; }
  /// Iterator to the name of class 0.
  auto begin() const noexcept { return names().begin(); }
  /// Iterator past the last name.
  auto end() const noexcept { return names().end(); }
  /// All names, beginning with number 0. Valid as long as this value or a copy of it exists.
  const std::vector<std::string>& names() const noexcept;
  /// Returns the lowest number of a class with that name, or nothing if no class has the name. Takes time in proportion
  /// to the number of classes.
  std::optional<std::int64_t> find(std::string_view name) const noexcept;
  /// Returns "4 classes: 0 ant, 1 bee, 2 cow, 3 dog", for messages. Names at most the first 6 classes, and
  /// shortens long names.
  std::string to_string() const;
  /// True if `a` and `b` have the same names in the same order.
  friend bool operator==(const ClassNames& a, const ClassNames& b) noexcept {
    return a.names_ == b.names_ || a.names() == b.names();
  }

 private:
  std::shared_ptr<const std::vector<std::string>> names_;
};

}  // namespace penstock
