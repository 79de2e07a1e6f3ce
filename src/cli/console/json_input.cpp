// SPDX-License-Identifier: Apache-2.0
#include "console/json_input.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::cli {

Json json_in(std::string_view text) {
  static constexpr int deepest = 100;
  const auto stop_in_the_deep = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest)
      throw Error(Errc::corrupt, fmt::format("its JSON nests deeper than {} lists and objects", deepest));
    return true;
  };
  try {
    return Json::parse(text, stop_in_the_deep);
  } catch (const Json::exception& failed) {
    const std::string_view what = failed.what();  // begins with the library's name of the error, in brackets
    const std::size_t after = what.find("] ");
    throw Error(Errc::corrupt, "it is no JSON: " + printable(after == what.npos ? what : what.substr(after + 2), 300));
  }
}

Json json_or_null(std::string_view text) {
  try {
    return json_in(text);
  } catch (const Error&) {
    return nullptr;
  }
}

void require_json_version(const Json& file, int version, std::string_view advice) {
  const Json found = file.contains("version") ? file.at("version") : Json(1);
  if (found == version) return;
  throw Error(Errc::unsupported, fmt::format("it is of version {}, and this penstock reads version {}; {}",
                                             found.is_number_unsigned() ? found.dump() : "unknown", version, advice));
}

bool has_texts(const Json& object, std::initializer_list<const char*> names) {
  return object.is_object() && std::ranges::all_of(names, [&](const char* name) {
           return object.contains(name) && object.at(name).is_string();
         });
}

bool has_counts(const Json& object, std::initializer_list<const char*> names) {
  return object.is_object() && std::ranges::all_of(names, [&](const char* name) {
           return object.contains(name) && object.at(name).is_number_unsigned();
         });
}

}  // namespace penstock::cli
