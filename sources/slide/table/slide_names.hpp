#pragma once

#include <span>
#include <string>
#include <vector>

namespace penstock::slide {

/// A name for each slide, all different: the file's without its ending; where two would have the same, each one's path
/// below the folder that all have in common, without its ending, or with it, where that is not enough either.
/// @throws Error(invalid_argument) for a file that stands there twice.
std::vector<std::string> names_of_slides(std::span<const std::string> paths);

/// The part of a path after its last slash, and that without what stands after its last dot, or ".ome" before it.
std::string file_name_of(const std::string& path);
std::string without_ending(const std::string& file_name);

}  // namespace penstock::slide
