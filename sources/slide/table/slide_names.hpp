// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace penstock::slide {

/// Returns a name for each slide, all different. It is the file's name without its extension. If two slides would have
/// the same name, their paths relative to the common folder are used, without extensions. Extensions are kept if the
/// paths would be the same without them.
/// @throws Error(invalid_argument) if a file is listed twice.
std::vector<std::string> names_of_slides(std::span<const std::string> paths);

/// Returns the part of a path after its last slash. `without_ending` returns a name or path without its extension, and
/// without a ".ome" before that.
std::string file_name_of(const std::string& path);
std::string without_ending(const std::string& file_name);

}  // namespace penstock::slide
