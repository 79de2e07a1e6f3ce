// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_stores.hpp"

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

struct Stores {
  std::recursive_mutex
      mutex;  // held while stores open and close, so that none is opened while its last user still closes it
  std::condition_variable_any closed;
  std::map<std::string, std::weak_ptr<CacheStore>> open;  // an entry stays until its store is closed
};

// Never destroyed: pipelines in other static objects may be gone after it.
Stores& stores() {
  static Stores* const one = new Stores;
  return *one;
}

void caches_before_fork() { stores().mutex.lock(); }
void caches_after_fork_in_parent() { stores().mutex.unlock(); }
void caches_after_fork_in_child() {
  stores().open.clear();
  // A recursive mutex belongs to a thread, which has a different number in the child, so no thread there can unlock it.
  new (&stores().mutex) std::recursive_mutex;
  new (&stores().closed) std::condition_variable_any;
}
void watch_forks() {
  watch_forks_of_environments();  // their mutex is locked inside of this one, so also before a fork
  static const int once = pthread_atfork(caches_before_fork, caches_after_fork_in_parent, caches_after_fork_in_child);
  static_cast<void>(once);
}

// Returns one name for all spellings of the path, even if nothing exists there, when a relative one would stay
// relative. Opening it reports faults.
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
  std::shared_ptr<CacheStore> there;  // released after the lock, which its end takes
  std::unique_lock lock(stores().mutex);
  // A store without users may not be closed yet.
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
  auto close = [generation, name = std::string(name)](CacheStore* store) {  // moved, it takes no memory
    if (generation != process_generation())
      return;  // the parent's, in its child: its thread and its locks are not here
    {
      const std::lock_guard closing(stores().mutex);
      delete store;
      stores().open.erase(name);
    }
    stores().closed.notify_all();
  };
  std::unique_ptr<CacheStore> opened(new CacheStore(path, options, key));
  // If there is no memory for the shared pointer's state, `close` is called.
  const std::shared_ptr<CacheStore> made(opened.release(), std::move(close));
  stores().open[name] = made;
  return made;
}

}  // namespace penstock::lmdb
