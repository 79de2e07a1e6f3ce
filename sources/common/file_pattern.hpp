#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

/// The file, or, where there is none of that name and it has `*`, `?` or `[`, the files of that pattern, sorted by
/// their bytes. @throws Error(not_found) where no file has a name of the pattern; Error(io) where a folder of it can't
/// be read; both with `source`.
std::vector<std::string> files_of_pattern(const std::string& path, std::string_view source);

}  // namespace penstock::common
