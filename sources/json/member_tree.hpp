// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "cursor.hpp"
#include "errors.hpp"

namespace penstock::json {

/// Returns the names of the members on a path: {"meta", "label"} for "meta.label". "\." is a dot in a name, "\\" a
/// backslash.
std::vector<std::string> names_of_path(std::string_view path);
/// Returns the path with these names.
std::string path_of_names(const std::vector<std::string>& names);

/// The members that are wanted of each record, as a tree of the names on their paths. Immutable after `add`.
class MemberTree {
 public:
  struct Node {
    std::string name;                     ///< the member's name; empty for the record itself
    std::string path;                     ///< "meta.label"
    std::vector<std::size_t> children{};  ///< numbers of nodes, sorted by name
    bool wanted = false;
  };

  MemberTree() : nodes_(1) {}
  /// Adds a wanted member, and returns the number of its node. If it was added before, returns the same number.
  std::size_t add(std::string_view path);
  const Node& operator[](std::size_t node) const noexcept { return nodes_[node]; }
  std::size_t size() const noexcept { return nodes_.size(); }
  /// Returns the child of that name, or 0.
  std::size_t child(std::size_t node, std::string_view name) const noexcept;

 private:
  std::vector<Node> nodes_;
};

/// Finds the wanted members of one record after another. One thread at a time.
class MemberWalk {
 public:
  /// Keeps a reference to `tree`.
  explicit MemberWalk(const MemberTree& tree) : tree_(tree), seen_(tree.size()) {}

  /// Goes through the text of a record. Calls `visit` with each wanted member's node, and the cursor at its value,
  /// which `visit` must pass. A null where an object was expected counts as a missing member.
  /// @throws Error(corrupt) if the text is not one object, a member on a wanted path comes twice, or a path leads
  /// through a value that is not an object; and what `visit` throws.
  template <class Visit>
  void go(std::string_view text, Visit visit) {
    ++record_;
    Cursor cursor(text);
    if (const Kind kind = cursor.peek(); kind != Kind::object)
      throw Error(Errc::corrupt, "the line is " + std::string(to_words(kind)) + "; each line must be one object")
          .with_offset(cursor.offset());
    walk(cursor, 0, visit);
    cursor.end();
  }
  /// Whether the last record had the member.
  bool saw(std::size_t node) const noexcept { return seen_[node] == record_; }

 private:
  template <class Visit>
  void walk(Cursor& cursor, std::size_t node, Visit& visit) {
    cursor.each_member([&](const Text& name) {
      const std::size_t child = child_of(node, name);
      const std::size_t at = name.offset;
      if (child == 0) return cursor.skip();
      if (seen_[child] == record_) refuse(child, "comes twice in its object", at);
      seen_[child] = record_;
      const Kind kind = cursor.peek();
      if (tree_[child].wanted) return visit(child, cursor);
      if (kind == Kind::null) return cursor.null();
      if (kind != Kind::object)
        refuse(child, "is " + std::string(to_words(kind)) + ", not an object with further members", cursor.offset());
      walk(cursor, child, visit);
    });
  }
  std::size_t child_of(std::size_t node, const Text& name) {
    if (!name.escaped) return tree_.child(node, name.raw);
    try {
      return tree_.child(node, characters(name, buffer_));
    } catch (const Error&) {
      return 0;  // half of a character: no path has that name
    }
  }
  [[noreturn]] void refuse(std::size_t node, const std::string& why, std::size_t offset) const {
    throw Error(Errc::corrupt, "member \"" + printable(tree_[node].path) + "\" " + why).with_offset(offset);
  }

  const MemberTree& tree_;
  std::vector<std::uint64_t> seen_;  // by node: the last record that had the member
  std::uint64_t record_ = 0;
  std::string buffer_;
};

}  // namespace penstock::json
