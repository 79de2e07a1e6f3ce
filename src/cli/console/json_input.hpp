// SPDX-License-Identifier: Apache-2.0
// JSON from untrusted sources.
#pragma once

#include <initializer_list>
#include <string_view>

#include "console/output.hpp"

namespace penstock::cli {

/// Parses a text. @throws Error(corrupt), which names no file, if the text is not JSON, or if lists and objects nest
/// deeper than 100 levels. Without the limit, code that copies or prints nested lists and objects could overflow the
/// stack, because it recurses.
Json json_in(std::string_view text);
/// Parses like `json_in`, but returns null for a text that `json_in` refuses.
Json json_or_null(std::string_view text);
/// Refuses a file that the tool has written if its member `version` is not `version`. A file without the member is of
/// version 1. `advice` says what to do. @throws Error(unsupported), which names no file.
void require_json_version(const Json& file, int version, std::string_view advice);
/// Returns whether `object` is an object that has all these members, and they are strings.
bool has_texts(const Json& object, std::initializer_list<const char*> names);
/// Returns whether `object` is an object that has all these members, and they are whole numbers from 0.
bool has_counts(const Json& object, std::initializer_list<const char*> names);

}  // namespace penstock::cli
