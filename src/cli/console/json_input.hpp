// JSON that may come from anywhere.
#pragma once

#include <initializer_list>
#include <string_view>

#include "console/output.hpp"

namespace penstock::cli {

/// What a text says. @throws Error(corrupt), without a file, for what is no JSON, and where lists and objects nest
/// deeper than 100: code that copies and prints them calls itself for each.
Json json_in(std::string_view text);
/// As `json_in`, but null for such a text.
Json json_or_null(std::string_view text);
/// Whether it is an object that has all of these, strings.
bool has_texts(const Json& object, std::initializer_list<const char*> names);
/// Whether it is an object that has all of these, whole numbers from 0 on.
bool has_counts(const Json& object, std::initializer_list<const char*> names);

}  // namespace penstock::cli
