// SPDX-License-Identifier: Apache-2.0
// Words of a text file that stand for classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <penstock/class_names.hpp>

namespace penstock::common {

/// The numbers that a list of classes gives to words. Immutable; any thread.
class ClassWords {
 public:
  ClassWords() = default;
  explicit ClassWords(ClassNames classes);

  const ClassNames& classes() const noexcept { return classes_; }
  /// Returns the number of the class of that name, or nothing.
  std::optional<std::int64_t> number(std::string_view word) const noexcept;
  /// Returns a name that two classes have; null if all names differ.
  const std::string* repeated() const noexcept;

 private:
  ClassNames classes_;
  std::vector<std::int64_t> by_name_;  // the numbers in the order of their names
};

/// Collects the different words of a column or member. One thread at a time.
class DistinctWords {
 public:
  /// Adds a word. @throws Error(limit_exceeded), which names no file, if there are more than `max_classes` different
  /// words, or if these have more than 64 MiB. `what` names the column or member: "column \"kind\"".
  void add(std::string_view word, std::size_t max_classes, const std::string& what);
  /// Returns the words as classes, in the order of their bytes.
  /// @throws Error(invalid_argument), which names no file, if there is no word, or if there are more than 100 and no
  /// two are the same.
  ClassNames classes(const std::string& what) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> words_;
  std::uint64_t added_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::common
