// SPDX-License-Identifier: Apache-2.0
#include "stores/input_path.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <penstock/sources/remote.hpp>

#include "console/urls.hpp"

namespace penstock::cli {

InputPath::InputPath(std::string path)
    : path_(std::move(path)), shown_(cli::is_url(path_) ? shown_url(path_) : path_), is_url_(cli::is_url(path_)) {
  std::error_code failed;
  is_list_ = !is_url_ && path_.ends_with(".txt") && !std::filesystem::is_directory(path_, failed);
}

CLI::Option& add_store_argument(CLI::App& command, InputPath& store) {
  return *command.add_option_function<std::string>(
      "STORE", [&store](const std::string& path) { store = path; },
      "LMDB store, folder of images, tar shards or a list of them (X.txt), HDF5, slide, CSV, lines of JSON, or a\n"
      "URL of tar shards or of a list, 'https://host/x-{000..146}.tar'");
}

}  // namespace penstock::cli
