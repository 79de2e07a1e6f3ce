// SPDX-License-Identifier: Apache-2.0
#include "class_words.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::common {

ClassWords::ClassWords(ClassNames classes) : classes_(std::move(classes)), by_name_(classes_.size()) {
  std::iota(by_name_.begin(), by_name_.end(), std::int64_t{0});
  std::ranges::sort(by_name_, {}, [this](std::int64_t number) -> const std::string& {
    return classes_[static_cast<std::size_t>(number)];
  });
}

std::optional<std::int64_t> ClassWords::number(std::string_view word) const noexcept {
  const auto name = [this](std::int64_t number) -> std::string_view {
    return classes_[static_cast<std::size_t>(number)];
  };
  const auto found = std::ranges::lower_bound(by_name_, word, {}, name);
  if (found == by_name_.end() || name(*found) != word) return std::nullopt;
  return *found;
}

const std::string* ClassWords::repeated() const noexcept {
  const auto name = [this](std::int64_t number) -> const std::string& {
    return classes_[static_cast<std::size_t>(number)];
  };
  const auto found = std::ranges::adjacent_find(by_name_, {}, name);
  return found == by_name_.end() ? nullptr : &name(*found);
}

void DistinctWords::add(std::string_view word, std::size_t max_classes, const std::string& what) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  ++added_;
  if (words_.contains(word)) return;
  const bool too_many = words_.size() >= max_classes;
  if (too_many || word.size() > max_bytes - bytes_)
    throw Error(Errc::limit_exceeded, what + " has more than " +
                                          (too_many ? std::to_string(max_classes) + " different words (`max_classes`)"
                                                    : "64 MiB of different words") +
                                          "; read it as text, or list its `classes`");
  words_.emplace(word);
  bytes_ += word.size();
}

ClassNames DistinctWords::classes(const std::string& what) const {
  constexpr std::size_t few = 100;
  if (words_.empty())
    throw Error(Errc::invalid_argument, what + " has no word that could be a class; list its `classes`");
  if (words_.size() > few && words_.size() == added_)
    throw Error(Errc::invalid_argument, what + " has " + std::to_string(added_) +
                                            " words, which all differ, so they do not name classes; read it as text, "
                                            "or list its `classes`");
  std::vector<std::string> sorted(words_.begin(), words_.end());
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace penstock::common
