// SPDX-License-Identifier: Apache-2.0
#include "cache/open_cache.hpp"

#include <pthread.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>

#include "cache/cache_manifest.hpp"
#include "store/registry.hpp"

namespace penstock::lmdb {

namespace {

struct OpenCaches {
  std::recursive_mutex mutex;  // held while a store is opened or closed, so that no store is opened while its last user
                               // is still closing it
  std::condition_variable_any closed;
  std::map<std::string, std::weak_ptr<CacheStore>> open;  // an entry stays until its store is closed
};

// Never destroyed, because pipelines in other static objects may be destroyed later.
OpenCaches& stores() {
  static OpenCaches* const one = new OpenCaches;
  return *one;
}

void caches_before_fork() { stores().mutex.lock(); }
void caches_after_fork_in_parent() { stores().mutex.unlock(); }
void caches_after_fork_in_child() {
  stores().open.clear();
  // A recursive mutex belongs to the thread that locked it. That thread has a different number in the child, so no
  // thread of the child could unlock the mutex.
  new (&stores().mutex) std::recursive_mutex;
  new (&stores().closed) std::condition_variable_any;
}
void watch_forks() {
  // Environments register their fork handlers first, because the handlers that are registered last lock first. The
  // mutex of the environments must be locked after this one.
  watch_forks_of_environments();
  static const int once = pthread_atfork(caches_before_fork, caches_after_fork_in_parent, caches_after_fork_in_child);
  static_cast<void>(once);
}

// Returns one name for all spellings of a path. The path is made absolute first, because `weakly_canonical` leaves a
// relative path relative if nothing exists there. Faults are ignored: opening the cache reports them.
std::string name_of(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path from_root = std::filesystem::absolute(path, failed);
  if (failed) return path;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(from_root, failed);
  return failed ? path : whole.string();
}

}  // namespace

std::shared_ptr<CacheStore> open_cache(const std::string& path, const LmdbCacheOptions& options,
                                       const penstock::CacheKey& key) {
  watch_forks();
  const std::string name = name_of(path);
  // Declared before `lock`, and so released after it. If this is then the store's last user, closing the store locks
  // the mutex itself.
  std::shared_ptr<CacheStore> there;
  std::unique_lock lock(stores().mutex);
  // A store whose last user is gone may still be closing. Waits until it is closed.
  stores().closed.wait(lock, [&] {
    const auto found = stores().open.find(name);
    if (found != stores().open.end()) there = found->second.lock();
    return found == stores().open.end() || there != nullptr;
  });
  if (there != nullptr) {
    if (const std::string differs = difference(cache_manifest(there->key()), key); !differs.empty()) {
      Error error(Errc::state_mismatch, "the cache there is open in this process for another pipeline: " + differs +
                                            "; give this one another path");
      throw error.with_source("cache").with_file(path);
    }
    return there;
  }
  const std::uint32_t generation = process_generation();
  auto close = [generation, name = std::string(name)](CacheStore* store) {  // moving `close` allocates no memory
    if (generation != process_generation())
      return;  // in a child made by fork(), the store is the parent's, and its thread doesn't exist here
    {
      const std::lock_guard closing(stores().mutex);
      delete store;
      stores().open.erase(name);
    }
    stores().closed.notify_all();
  };
  std::unique_ptr<CacheStore> opened(new CacheStore(path, options, key));
  // If there is no memory for the shared pointer's state, its constructor calls `close`.
  const std::shared_ptr<CacheStore> made(opened.release(), std::move(close));
  stores().open[name] = made;
  return made;
}

}  // namespace penstock::lmdb
