#pragma once

#include <string>
#include <vector>

#include "input_store.hpp"

namespace penstock::cli {

/// Opens what is there as what it looks like. @throws penstock::Error, UsageError.
OpenedStore open_input_store(const std::string& path, const InputStoreOptions& options);

/// The files that a pattern of the shell's stands for, in order. @throws penstock::Error(not_found).
std::vector<std::string> files_of_pattern(const std::string& pattern);

}  // namespace penstock::cli
