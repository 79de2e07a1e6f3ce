// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Returns a name by which `file` can be read several times. A pipe can be read only once. So for a pipe, returns the
/// name of a copy in memory, which stays until the process ends. For other files, returns `file`. One thread at a time
/// may call it.
/// @throws like `read_text`.
std::string readable_again(const std::string& file);

}  // namespace penstock::cli
