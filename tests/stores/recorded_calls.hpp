// SPDX-License-Identifier: Apache-2.0
// What a process did to files, and whether that would have lasted through a power cut at any moment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace penstock_test {

struct RecordedCall {
  unsigned long number = 0;
  std::string name, path, second;
  std::int64_t offset = -1;
  std::uint64_t bytes = 0;
  std::string flags;
  int failed = 0;
};

std::vector<RecordedCall> calls_in(const std::string& log);

// Goes through the calls of a run that wrote a store, each commit of which was to last (`sync`), or its end only. Empty
// where at every moment all that is said to be there, by a mark, a name or a commit, would outlast a power cut; else
// the first call after which it would not.
std::string first_that_would_not_last(const std::vector<RecordedCall>& calls, bool sync);

// The first call on a file without the lock that it needs: `lock_of` names that, empty where it needs none. Empty where
// there is no such call.
std::string first_without_its_lock(const std::vector<RecordedCall>& calls,
                                   const std::function<std::string(const std::string& path)>& lock_of);

// Calls that write, sync, close or name what has to last: not a lock, nothing that is taken away later, and of LMDB's
// own files not the close, which comes after a sync.
std::vector<RecordedCall> calls_that_matter(const std::vector<RecordedCall>& calls);

}  // namespace penstock_test
