#pragma once

#include <string>

namespace penstock::cli {

/// A name by which `file` can be read as often as one likes: of a pipe, which can be read once, that of a copy in
/// memory, which stays until the process ends; of other files their own. One thread. @throws as `read_text`.
std::string readable_again(const std::string& file);

}  // namespace penstock::cli
