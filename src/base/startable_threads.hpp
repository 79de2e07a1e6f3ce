#pragma once

namespace penstock::detail {

/// How many threads the system lets this process start now, beside those it has, and `most` at most: it starts so many
/// and ends them again. Other processes of the same user, or of the same control group, may take what was found.
/// @throws std::bad_alloc.
unsigned startable_threads(unsigned most);

}  // namespace penstock::detail
