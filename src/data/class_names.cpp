// SPDX-License-Identifier: Apache-2.0
#include <penstock/class_names.hpp>

#include <algorithm>
#include <utility>

#include <penstock/extend/system_error.hpp>

namespace penstock {

ClassNames::ClassNames(std::vector<std::string> names) {
  if (!names.empty()) names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
}

ClassNames ClassNames::from_lines(std::string_view text) {
  std::vector<std::string> names;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    names.emplace_back(line);
  }
  return names;
}

const std::vector<std::string>& ClassNames::names() const noexcept {
  static const std::vector<std::string> none;
  return names_ == nullptr ? none : *names_;
}

std::optional<std::int64_t> ClassNames::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(names(), name);
  if (found == names().end()) return std::nullopt;
  return found - names().begin();
}

std::string ClassNames::to_string() const {
  constexpr std::size_t shown = 6, longest = 40;
  if (empty()) return "no names of classes";
  std::string text = std::to_string(size()) + (size() == 1 ? " class: " : " classes: ");
  for (std::size_t i = 0; i < std::min(size(), shown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(i) + " " + printable(in_list((*this)[i]), longest);
  return size() > shown ? text + ", ..." : text;
}

}  // namespace penstock
