// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Returns a name by which `file` can be read several times. For a pipe, which can be read only once, it is the name of
/// a copy in memory, which stays until the process ends. For other files it is their own name. One thread. @throws like
/// `read_text`.
std::string readable_again(const std::string& file);

}  // namespace penstock::cli
