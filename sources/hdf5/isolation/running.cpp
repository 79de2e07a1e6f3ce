// SPDX-License-Identifier: Apache-2.0
#include "isolation/running.hpp"

#include <algorithm>
#include <iterator>

#include "isolation/remote_access.hpp"

namespace penstock::hdf5 {

void RunningReaders::used(RemoteAccess& access) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(latest_first_, &access);
  if (known != latest_first_.end())
    latest_first_.splice(latest_first_.begin(), latest_first_, known);
  else
    latest_first_.push_front(&access);
  // Processes that are being asked are not ended, so more than `most` may run. But there are no more of these than
  // threads.
  for (auto last = latest_first_.end(); latest_first_.size() > most && last != std::next(latest_first_.begin());) {
    --last;
    if ((*last)->end_if_idle()) last = latest_first_.erase(last);
  }
}

void RunningReaders::forget(RemoteAccess& access) {
  const std::lock_guard lock(mutex_);
  latest_first_.remove(&access);
}

}  // namespace penstock::hdf5
