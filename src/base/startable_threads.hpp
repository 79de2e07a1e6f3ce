// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::detail {

/// Returns how many more threads the system lets this process start now, at most `most`. It starts them and ends them
/// again. Other processes of the same user, or of the same control group, may take these threads afterwards.
/// @throws std::bad_alloc.
unsigned startable_threads(unsigned most);

}  // namespace penstock::detail
