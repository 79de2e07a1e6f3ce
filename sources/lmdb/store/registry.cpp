// SPDX-License-Identifier: Apache-2.0
#include "store/registry.hpp"

#include <pthread.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "store/errors.hpp"

namespace penstock::lmdb {

std::atomic<std::uint32_t> forks_seen{1};

namespace {

struct Entry {
  std::unique_ptr<Environment> environment;
  std::size_t users = 0;
  bool writing = false;
};

struct Table {
  std::mutex mutex;  // held while an environment is opened or closed, so that no store is opened while its last
                     // environment is still closing
  std::map<FileId, Entry> entries;
};

Table& table();

void before_fork() { table().mutex.lock(); }
void after_fork_in_parent() { table().mutex.unlock(); }
void after_fork_in_child() {
  forks_seen.fetch_add(1, std::memory_order_relaxed);
  // The child must not close the parent's environments, because that would change the parent's reader slots.
  for (auto& [id, entry] : table().entries) static_cast<void>(entry.environment.release());
  table().entries.clear();
  table().mutex.unlock();
}

// Never destroyed, because sources in other static objects may be closed later.
Table& table() {
  static Table* const one = new Table;
  return *one;
}

// One of the users of an environment. Create a Use before you lock the mutex: the destructor of a Use locks the mutex,
// and would wait forever if a failure called it while the mutex is held.
class Use {
 public:
  Use() = default;
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    if (environment_ == nullptr || generation_ != process_generation()) return;
    const std::lock_guard lock(table().mutex);
    const auto found = table().entries.find(id_);
    if (--found->second.users == 0) table().entries.erase(found);
  }
  // Call this while holding the mutex.
  static std::shared_ptr<Environment> begin(std::shared_ptr<Use> use, FileId id, Entry& entry) noexcept {
    ++entry.users;
    use->id_ = id;
    use->environment_ = entry.environment.get();
    return {std::move(use), entry.environment.get()};
  }

 private:
  FileId id_{};
  const std::uint32_t generation_ = process_generation();
  Environment* environment_ = nullptr;
};

[[noreturn]] void refuse(const std::string& file, const char* why) {
  throw error_in(file, Errc::invalid_argument, why);
}

}  // namespace

void watch_forks_of_environments() {
  static const int once = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(once);
}

std::shared_ptr<Environment> share_for_reading(const StoreFiles& files, bool read_ahead, bool lock_file) {
  watch_forks_of_environments();
  auto use = std::make_shared<Use>();
  const std::lock_guard lock(table().mutex);
  const auto facts = facts_of(files.data);
  if (!facts) throw error_of(ENOENT, "opening the store", files.data);
  auto found = table().entries.find(facts->id);
  if (found == table().entries.end()) {
    Entry entry;
    entry.environment = Environment::for_reading(files, read_ahead, lock_file);
    found = table().entries.emplace(facts->id, std::move(entry)).first;
  } else if (found->second.writing) {
    refuse(files.data,
           "the store can't be read while this process writes to it; first finish or destroy its LmdbSink, or the "
           "pipelines over that cache");
  } else if (lock_file) {
    found->second.environment->join(files);
  }
  return Use::begin(std::move(use), found->first, found->second);
}

namespace {

// Call this while holding the table's mutex.
void require_closed(const StoreFiles& files) {
  const auto facts = facts_of(files.data);
  if (facts && table().entries.contains(facts->id))
    refuse(files.data, "the store can't be written to while this process has it open; close it first");
}

}  // namespace

std::unique_ptr<WritersLock> lock_for_writing(const StoreFiles& files) {
  watch_forks_of_environments();
  const std::lock_guard lock(table().mutex);
  require_closed(files);
  return std::make_unique<WritersLock>(files);
}

std::shared_ptr<Environment> own_for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                             std::unique_ptr<WritersLock> writers) {
  watch_forks_of_environments();
  auto use = std::make_shared<Use>();
  const std::lock_guard lock(table().mutex);
  require_closed(files);
  Entry entry;
  entry.environment = Environment::for_writing(files, map_bytes, sync, std::move(writers));
  entry.writing = true;
  const auto now = facts_of(files.data);
  if (!now) throw error_of(ENOENT, "opening the store", files.data);
  const auto made = table().entries.emplace(now->id, std::move(entry)).first;
  return Use::begin(std::move(use), made->first, made->second);
}

}  // namespace penstock::lmdb
