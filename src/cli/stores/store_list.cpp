// SPDX-License-Identifier: Apache-2.0
#include "stores/store_list.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include <penstock/extend/store_files.hpp>

#include "console/json_input.hpp"
#include "console/output.hpp"

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

// The version that the library reads (sources/common/store_list.cpp).
constexpr int list_version = 1;

// Returns the list in a file, of any version, or null.
Json list_in(const std::string& path) {
  if (!begins_as_list(path)) return {};
  const std::optional<std::string> text = read_text(path, "list of stores");
  Json json = json_or_null(text.value_or(""));
  return json.is_object() && json.value("penstock", Json()) == "stores" ? json : Json();
}

}  // namespace

bool names_list(const std::string& path) {
  std::error_code failed;
  return path.ends_with(".json") && fs::is_regular_file(path, failed);
}

bool begins_as_list(const std::string& path) {
  std::array<char, 4096> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return std::string_view(head.data(), static_cast<std::size_t>(file.gcount())).find("\"penstock\"") !=
         std::string_view::npos;
}

bool is_list(const std::string& path) { return !list_in(path).is_null(); }

std::string form_of_list(const std::string& path) {
  const Json list = list_in(path);
  if (list.is_null()) return "";
  try {
    require_json_version(list, list_version, "merge the stores again");
  } catch (const Error& other) {
    throw Error(other.code(), other.cause()).with_file(path);
  }
  return list.value("form", Json()).is_string() ? list.at("form").get<std::string>() : "";
}

void write_list(const StoreList& list, const std::string& path) {
  Json json{{"penstock", "stores"},
            {"version", list_version},
            {"form", list.form},
            {"records", list.records},
            {"stores", Json::array()}};
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  for (const std::string& store : list.stores)
    json["stores"].push_back(fs::absolute(store).lexically_normal().lexically_proximate(folder).string());
  if (const fs::path above = fs::path(path).parent_path(); !above.empty()) make_folder(above.string(), "merge");
  replace_text(path, json_text(json, 1) + "\n", true, "merge");
}

}  // namespace penstock::cli
