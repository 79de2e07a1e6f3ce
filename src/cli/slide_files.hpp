#pragma once

#include <string>
#include <vector>

namespace penstock::cli {

/// The slides that arguments name: files as they are, of folders those that end as slides do, of patterns those
/// that fit; each argument's sorted by the bytes of their paths. @throws penstock::Error where one names none.
std::vector<std::string> slide_files(const std::vector<std::string>& arguments);

/// Whether a file of this name is taken for a slide.
bool names_slide(const std::string& path);

}  // namespace penstock::cli
