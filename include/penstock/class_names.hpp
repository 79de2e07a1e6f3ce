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

/// Names of the classes that the whole numbers of a field stand for: number i is the class `names()[i]`. Two classes
/// may have one name, as some published lists have it. A value whose copies share the names; immutable, any thread.
class PENSTOCK_API ClassNames {
 public:
  /// No names: nobody says what the numbers mean.
  ClassNames() = default;
  /// Names of the numbers from 0 on; none where the list is empty.
  ClassNames(std::vector<std::string> names);  // NOLINT(google-explicit-constructor): a list of names is one
  /// Names of the numbers from 0 on: `{"ant", "bee"}`.
  ClassNames(std::initializer_list<std::string> names) : ClassNames(std::vector<std::string>(names)) {}

  /// Names from a text that names one on each line, number 0 first; an empty line is an empty name. A byte order mark
  /// is left out.
  static ClassNames from_lines(std::string_view text);

  /// True where there are no names: nobody says what the numbers mean.
  bool empty() const noexcept { return names_ == nullptr; }
  /// How many classes there are.
  std::size_t size() const noexcept { return names().size(); }
  /// The name of a class by its number, which must be below `size()`.
  const std::string& operator[](std::size_t number) const noexcept { return names()[number]; }
  /// The name of number 0.
  auto begin() const noexcept { return names().begin(); }
  /// Past the last name.
  auto end() const noexcept { return names().end(); }
  /// All names, that of number 0 first. Valid as long as this value or a copy of it.
  const std::vector<std::string>& names() const noexcept;
  /// The first number of that name; nothing where there is none. Takes time in proportion to the number of classes.
  std::optional<std::int64_t> find(std::string_view name) const noexcept;
  /// "4 classes: 0 ant, 1 bee, 2 cow, 3 dog"; of many, the first few. For messages.
  std::string to_string() const;
  /// True where both give the same names to the same numbers.
  friend bool operator==(const ClassNames& a, const ClassNames& b) noexcept {
    return a.names_ == b.names_ || a.names() == b.names();
  }

 private:
  std::shared_ptr<const std::vector<std::string>> names_;
};

}  // namespace penstock
