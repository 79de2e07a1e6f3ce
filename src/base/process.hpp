#pragma once

#include <sys/types.h>

namespace penstock::detail {

/// What getpid() says, without asking the system each time: what is called for every batch may ask whose child it is
/// in. Any thread.
pid_t process_id() noexcept;

/// This process, which uses threads of ours from now on. Their locks don't survive fork(): what a child asks may never
/// return. So a child of a process that once called this can't. @throws Error(forked) there.
pid_t process_with_threads();

/// @throws Error(forked) in a child of a process that uses them. One that does not is left as it is. Any thread.
void check_not_forked();

}  // namespace penstock::detail
