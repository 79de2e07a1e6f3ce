// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace penstock::slide {

/// Returns a name for each slide, all different. A name is the file's name without its extension. If two slides would
/// have the same name, all names are paths relative to the slides' common folder, without extensions. If two of these
/// paths would be the same, all names keep their extensions.
/// @throws Error(invalid_argument) if a file is listed twice.
std::vector<std::string> names_of_slides(std::span<const std::string> paths);

/// Returns the part of a path after its last slash.
std::string file_name_of(const std::string& path);
/// Returns a name or path without its extension, and without a ".ome" before the extension.
std::string without_ending(const std::string& file_name);

}  // namespace penstock::slide
