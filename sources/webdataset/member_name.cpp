// SPDX-License-Identifier: Apache-2.0
#include "member_name.hpp"

#include <algorithm>
#include <cstddef>

#include "common/sinks/key_as_file_name.hpp"

namespace penstock::webdataset {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<MemberName> split_name(std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return std::nullopt;
  while (name.starts_with("./")) name.remove_prefix(2);
  const std::size_t base = name.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return MemberName{name.substr(0, dot), lower_case(name.substr(dot + 1))};
}

const char* danger_of(std::string_view name) noexcept {
  if (name.starts_with('/') || name.starts_with('\\')) return "is an absolute path";
  if (std::any_of(name.begin(), name.end(), common::is_control)) return "holds control characters";
  while (true) {
    const std::size_t end = std::min(name.find_first_of("/\\"), name.size());
    if (name.substr(0, end) == "..") return "leads out of the folder it would be unpacked in";
    if (end == name.size()) return nullptr;
    name.remove_prefix(end + 1);
  }
}

}  // namespace penstock::webdataset
