// SPDX-License-Identifier: Apache-2.0
#include "common/store_list.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "common/json_input.hpp"
#include "common/owned_json.hpp"

namespace penstock::common {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, std::string_view source, Errc code, std::string cause) {
  Error error(code, std::move(cause));
  throw error.with_source(source).with_file(path);
}

}  // namespace

bool names_store_list(const std::string& path) {
  std::error_code failed;
  return path.ends_with(".json") && fs::is_regular_file(path, failed);
}

StoreList read_store_list(const std::string& path, std::string_view form, std::string_view source) {
  const std::optional<std::string> text = read_text(path, source);
  if (!text) refuse(path, source, Errc::not_found, "there is no such list of stores");
  StoreList list;
  try {
    const OwnedJson document(nlohmann::json::parse(*text));
    const nlohmann::json& json = *document;
    if (json.at("penstock") != "stores")
      refuse(path, source, Errc::corrupt, "the file is no list of stores, as `penstock merge` writes it");
    // Without a copy, which could nest too deep.
    if (const auto version = json.find("version"); version != json.end() && *version != 1)
      refuse(path, source, Errc::unsupported,
             "the list is of version " + (version->is_number_unsigned() ? version->dump() : "unknown") +
                 ", and this penstock reads version 1; merge the stores again");
    list.form = json.at("form");
    list.records = whole_number<std::uint64_t>(json.at("records"));
    for (const nlohmann::json& store : json.at("stores")) {
      const fs::path named = store.get<std::string>();
      if (named.empty()) refuse(path, source, Errc::corrupt, "the list has a store without a name");
      list.stores.push_back(named.is_relative() ? (fs::path(path).parent_path() / named).string() : named.string());
    }
  } catch (const Error& error) {
    if (!error.file().empty()) throw;
    refuse(path, source, Errc::corrupt, error.cause());
  } catch (const nlohmann::json::exception& error) {
    refuse(path, source, Errc::corrupt,
           text->empty() ? "the list of stores is empty; merge them again"
                         : "the file is no list of stores, as `penstock merge` writes it; merge them again: " +
                               json_cause(error));
  }
  if (list.stores.empty()) refuse(path, source, Errc::corrupt, "the list names no store");
  for (const std::string& store : list.stores)
    if (names_store_list(store)) refuse(path, source, Errc::corrupt, "the list names another list, " + store);
  if (!form.empty() && list.form != form)
    refuse(path, source, Errc::invalid_argument,
           "the list is of stores of the form " + list.form + ", not " + std::string(form));
  return list;
}

}  // namespace penstock::common
