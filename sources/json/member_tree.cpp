// SPDX-License-Identifier: Apache-2.0
#include "member_tree.hpp"

#include <algorithm>

namespace penstock::json {

std::vector<std::string> names_of_path(std::string_view path) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 1 < path.size() && (path[i + 1] == '.' || path[i + 1] == '\\')) {
      names.back() += path[++i];
    } else if (path[i] == '.') {
      names.emplace_back();
    } else {
      names.back() += path[i];
    }
  }
  return names;
}

std::string path_of_names(const std::vector<std::string>& names) {
  std::string path;
  for (const std::string& name : names) {
    if (&name != &names.front()) path += '.';
    for (const char c : name) {
      if (c == '.' || c == '\\') path += '\\';
      path += c;
    }
  }
  return path;
}

std::size_t MemberTree::add(std::string_view path) {
  std::size_t node = 0;
  std::vector<std::string> names;
  for (std::string& name : names_of_path(path)) {
    std::size_t next = child(node, name);
    names.push_back(name);
    if (next == 0) {
      next = nodes_.size();
      nodes_.push_back({.name = name, .path = path_of_names(names)});
      std::vector<std::size_t>& children = nodes_[node].children;
      const auto before = std::ranges::lower_bound(
          children, name, {}, [this](std::size_t n) -> const std::string& { return nodes_[n].name; });
      children.insert(before, next);
    }
    node = next;
  }
  nodes_[node].wanted = true;
  return node;
}

std::size_t MemberTree::child(std::size_t node, std::string_view name) const noexcept {
  const std::vector<std::size_t>& children = nodes_[node].children;
  const auto name_of = [this](std::size_t n) -> std::string_view { return nodes_[n].name; };
  const auto found = std::ranges::lower_bound(children, name, {}, name_of);
  return found == children.end() || name_of(*found) != name ? 0 : *found;
}

}  // namespace penstock::json
