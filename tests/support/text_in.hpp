// SPDX-License-Identifier: Apache-2.0
// A file's bytes.
#pragma once

#include <filesystem>
#include <string>

namespace penstock_test {

// Nothing where there is no file.
std::string text_in(const std::filesystem::path& file);

}  // namespace penstock_test
