// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Where a store is that a command reads: a path, or a URL. A URL may have secrets. So a text, a result or a message
/// has `shown`, and only what opens the store takes `to_open`.
class InputPath {
 public:
  InputPath() = default;
  InputPath(std::string path);  // NOLINT(google-explicit-constructor): each path is one

  const std::string& to_open() const noexcept { return path_; }
  /// The path, or the URL without user, password and query.
  const std::string& shown() const noexcept { return shown_; }
  /// Whether it is a URL, of any scheme.
  bool is_url() const noexcept { return is_url_; }
  /// Whether it is named like a list of tar shards, which may be on servers.
  bool is_list() const noexcept { return is_list_; }
  bool empty() const noexcept { return path_.empty(); }

 private:
  std::string path_, shown_;
  bool is_url_ = false, is_list_ = false;
};

/// Adds STORE, the store that a command reads.
CLI::Option& add_store_argument(CLI::App& command, InputPath& store);

}  // namespace penstock::cli
