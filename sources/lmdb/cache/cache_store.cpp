// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_store.hpp"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "cache/cache_key.hpp"
#include "cache/cache_manifest.hpp"
#include "cache/cache_reader.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/read_txn.hpp"
#include "store/registry.hpp"

namespace penstock::lmdb {

namespace {

constexpr std::uint64_t max_map_bytes = std::uint64_t{1} << 40, min_map_bytes = std::uint64_t{1} << 28;
// Added to `max_bytes` for LMDB's map, so that the map is not full before the cache has `max_bytes`.
constexpr std::uint64_t spare_map_bytes = 64u << 20;
constexpr std::chrono::seconds patience{10};  // how long to wait for a process that has just begun the cache
constexpr std::chrono::milliseconds patience_with_others{500};
constexpr std::chrono::seconds quiet{1};  // for this long after a commit, a new snapshot gets no ValueAddresses

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

[[noreturn]] void refuse(Errc code, std::string cause, const std::string& file) {
  Error error(code, std::move(cause));
  throw error.with_source("cache").with_file(file);
}

// Returns the size in bytes to which the data file may grow: its present size and 95 % of the disk's free bytes.
std::uint64_t free_for(const StoreFiles& files) {
  std::error_code failed;
  const auto space = std::filesystem::space(files.path, failed);
  if (failed) return max_map_bytes;
  const auto facts = facts_of(files.data);
  return (facts ? facts->bytes : 0) + space.available / 20 * 19;
}

// A write transaction. The destructor aborts it if it was not committed.
class WriteTransaction {
 public:
  explicit WriteTransaction(const Environment& environment) : environment_(environment) {
    check(mdb_txn_begin(environment.handle(), nullptr, 0, &txn_), "beginning to write", environment.file());
  }
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;
  ~WriteTransaction() {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }
  MDB_txn* get() const noexcept { return txn_; }
  void put(std::string_view key, std::string_view text) {
    MDB_val name = value_of(key), value = value_of(text);
    require(mdb_put(txn_, environment_.table(), &name, &value, 0), text.size());
  }
  void commit() { require(mdb_txn_commit(std::exchange(txn_, nullptr)), 0); }

 private:
  void require(int code, std::size_t bytes) const {
    if (code != 0) throw write_error(code, "writing the manifest", environment_.file(), bytes);
  }

  const Environment& environment_;
  MDB_txn* txn_ = nullptr;
};

void put_manifest(WriteTransaction& writing, const Manifest& manifest) {
  writing.put(manifest_key, to_json(manifest));
  writing.commit();
}

std::optional<Manifest> manifest_of(MDB_txn* txn, const Environment& environment) {
  MDB_val name = value_of(manifest_key), value{};
  const int code = mdb_get(txn, environment.table(), &name, &value);
  if (code == MDB_NOTFOUND) return std::nullopt;
  check(code, "reading the manifest", environment.file());
  if (!environment.holds(value)) refuse(Errc::corrupt, "the manifest lies outside of the file", environment.file());
  try {
    return parse_manifest(text_of(value));
  } catch (Error& error) {
    throw error.with_source("cache").with_file(environment.file());
  }
}

std::uint64_t entries_of(MDB_txn* txn, const Environment& environment) {
  MDB_stat stat{};
  check(mdb_stat(txn, environment.table(), &stat), "reading the store", environment.file());
  return stat.ms_entries;
}

std::string difference_at(const Manifest& there, const penstock::CacheKey& key, const std::string& file) {
  try {
    return difference(there, key);
  } catch (Error& error) {
    throw error.with_source("cache").with_file(file);
  }
}

[[noreturn]] void refuse_other(const std::string& differs, bool written_elsewhere, const std::string& file) {
  refuse(Errc::state_mismatch,
         "the cache there is another pipeline's: " + differs +
             (written_elsewhere ? ", and a process is using it; give this one another path"
                                : "; give this one another path, delete it, or set replace to have it emptied"),
         file);
}

}  // namespace

CacheStore::CacheStore(const std::string& path, const LmdbCacheOptions& options, const penstock::CacheKey& key)
    : files_(place_store(path, false)),
      use_(path),
      options_(options),
      key_(key),
      records_(key.records),
      layout_(key.schema),
      keys_(KeyIndex::of_numbers(key.records)),
      present_(key.records / 64 + 1),
      offered_(key.records / 64 + 1),
      damaged_(key.records / 64 + 1) {
  open_environment();
  find_records();
  if (writer_ != nullptr) complete_if_full();
  ReadTxn txn(environment_);
  txn.get();
  addresses_of_advice_ = std::make_unique<ValueAddresses>(records_, txn.snapshot());
  advice_ = std::make_unique<ValueAdviser>(environment_, keys_, *addresses_of_advice_);
}

// Only the process that has the lock writes. Other processes read what it has written.
void CacheStore::open_environment() {
  try {
    while (!begin_writing()) {
    }
  } catch (const LockedElsewhere&) {
    wait_for_the_writer();
  }
}

// Returns false if this call created or emptied the store. The caller must then call the function again.
bool CacheStore::begin_writing() {
  max_bytes_ = options_.max_bytes != 0 ? options_.max_bytes : std::min(free_for(files_), max_map_bytes);
  std::unique_ptr<WritersLock> lock = lock_for_writing(files_);
  // Until the manifest exists, only this file shows that the store is not an empty store of raw values.
  if (lock->found_nothing()) replace_text(files_.unfinished, to_json(cache_manifest(key_)), options_.sync, source_name);
  for (std::uint64_t map_bytes = std::min(max_bytes_, max_map_bytes) + spare_map_bytes;; map_bytes /= 2) {
    try {
      if (lock == nullptr) lock = lock_for_writing(files_);
      environment_ = own_for_writing(files_, static_cast<std::size_t>(map_bytes), options_.sync, std::move(lock));
      max_bytes_ = std::min(max_bytes_, map_bytes - std::min(map_bytes, spare_map_bytes));
      break;
    } catch (const Error& error) {  // the process may not have that much address space
      if (error.code() != Errc::out_of_memory || map_bytes < min_map_bytes) throw;
    }
  }
  WriteTransaction writing(*environment_);
  const auto there = manifest_of(writing.get(), *environment_);
  if (!there) {
    if (entries_of(writing.get(), *environment_) != 0)
      refuse(Errc::invalid_argument, "the store there holds no cache; give the cache a folder of its own",
             environment_->file());
  } else {
    const std::string differs = difference_at(*there, key_, environment_->file());
    if (!differs.empty() && !options_.replace) refuse_other(differs, false, environment_->file());
    if (differs.empty()) {
      if (facts_of(files_.unfinished)) remove_mark();
      complete_ = there->complete;
      writer_ = std::make_unique<CacheWriter>(
          environment_, CacheWriter::Limits{max_bytes_, options_.max_queue_bytes},
          [this](std::span<const WaitingRecord> records) { committed(records); },
          [this](std::span<const WaitingRecord> records) {
            for (const WaitingRecord& record : records) clear(offered_, record.index);
            declined_.fetch_add(records.size(), std::memory_order_relaxed);
          });
      return true;
    }
    const auto empty = [&] {
      check(mdb_drop(writing.get(), environment_->table(), 0), "emptying the cache", environment_->file());
      put_manifest(writing, cache_manifest(key_));
    };
    // Other processes that open the cache at the same moment hold the lock of `use_` too, until they find that this
    // process writes.
    const auto until = std::chrono::steady_clock::now() + patience_with_others;
    while (!use_.alone(empty)) {
      if (std::chrono::steady_clock::now() > until) refuse_other(differs, true, environment_->file());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    environment_.reset();
    return false;
  }
  put_manifest(writing, cache_manifest(key_));
  remove_mark();
  // The next call opens the environment again. Only an environment that finds a value when it is opened knows where its
  // map begins.
  environment_.reset();
  return false;
}

void CacheStore::remove_mark() const {
  if (const int code = options_.sync ? 0 : mdb_env_sync(environment_->handle(), 1); code != 0)
    throw write_error(code, "syncing the cache", environment_->file(), 0);
  remove_file(files_.unfinished, source_name);
  if (options_.sync) sync_folder_of(files_.unfinished, source_name);
}

void CacheStore::wait_for_the_writer() {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::optional<Manifest> there;
    try {
      environment_ = share_for_reading(files_, false);
      ReadTxn txn(environment_);
      there = manifest_of(txn.get(), *environment_);
    } catch (const Error& error) {
      // Until `until`, ignores the error if the data file has no more than its header: the writer may have created the
      // store a moment ago.
      if (std::chrono::steady_clock::now() > until ||
          facts_of(files_.data).value_or(FileFacts{}).bytes > header_bytes())
        throw;
    }
    if (there) {
      if (const std::string differs = difference_at(*there, key_, environment_->file()); !differs.empty())
        refuse_other(differs, true, environment_->file());
      return;
    }
    if (std::chrono::steady_clock::now() > until)
      refuse(Errc::invalid_argument, "another process writes to the store there, and it is no cache", files_.data);
    environment_.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void CacheStore::find_records() {
  ReadTxn txn(environment_);
  const std::uint64_t there = entries_of(txn.get(), *environment_) - 1;  // the manifest is one of the entries
  if (there == records_) {
    for (auto& word : present_) word.store(~std::uint64_t{0}, std::memory_order_relaxed);
    kept_.store(records_, std::memory_order_relaxed);
    return;
  }
  MDB_cursor* cursor = nullptr;
  check(mdb_cursor_open(txn.get(), environment_->table(), &cursor), "reading the cache", environment_->file());
  const std::unique_ptr<MDB_cursor, decltype([](MDB_cursor* c) { mdb_cursor_close(c); })> guard(cursor);
  MDB_val key{};
  int code = mdb_cursor_get(cursor, &key, nullptr, MDB_FIRST);
  for (; code == 0; code = mdb_cursor_get(cursor, &key, nullptr, MDB_NEXT))
    if (const auto index = cache_index(text_of(key)); index && *index < records_) learn(*index);
  if (code != MDB_NOTFOUND) check(code, "reading the cache", environment_->file());
}

void CacheStore::learn(std::uint64_t index) noexcept {
  if (set(present_, index)) kept_.fetch_add(1, std::memory_order_relaxed);
}

void CacheStore::note_damage(std::uint64_t index) noexcept {
  damages_.fetch_add(1, std::memory_order_relaxed);
  if (index >= records_ || !set(damaged_, index)) return;
  clear(offered_, index);
}

void CacheStore::committed(std::span<const WaitingRecord> records) {
  last_commit_ns_.store(now_ns(), std::memory_order_relaxed);
  commits_.fetch_add(1, std::memory_order_release);
  for (const WaitingRecord& record : records) {
    learn(record.index);
    if (!record.replaces) continue;
    mended_.fetch_add(1, std::memory_order_relaxed);
    clear(damaged_, record.index);
    clear(offered_, record.index);  // so that it can be replaced again if it is damaged again
  }
  complete_if_full();
}

// Marks the cache as complete when it has all records, so that LmdbSource can read it like other stores.
void CacheStore::complete_if_full() {
  if (complete_ || kept_.load(std::memory_order_relaxed) != records_) return;
  Manifest manifest = cache_manifest(key_);
  manifest.complete = true;
  manifest.count = records_;
  WriteTransaction writing(*environment_);
  put_manifest(writing, manifest);
  complete_ = true;
  commits_.fetch_add(1, std::memory_order_release);
}

void CacheStore::offer(std::uint64_t index, Sample& sample) noexcept {
  if (writer_ == nullptr || index >= records_) return;
  const bool replaces = has(index);
  if ((replaces && !bit(damaged_, index)) || !set(offered_, index)) return;
  const auto decline = [&] {
    clear(offered_, index);
    declined_.fetch_add(1, std::memory_order_relaxed);
  };
  try {
    WaitingRecord record;
    record.index = index;
    record.replaces = replaces;
    record.bytes = layout_.encoded_bytes(sample);
    if (!writer_->reserve(record.bytes)) return decline();
    try {
      record.data.reset(new std::byte[record.bytes]);
      std::array<char, cache_key_bytes> buffer{};
      layout_.encode(sample, cache_key(index, buffer), {record.data.get(), record.bytes});
      writer_->put(std::move(record));
    } catch (...) {
      writer_->give_up(record.bytes);
      decline();
    }
  } catch (...) {
    decline();
  }
}

std::unique_ptr<penstock::CacheReader> CacheStore::open_reader() { return make_cache_reader(shared_from_this()); }

std::shared_ptr<ValueAddresses> CacheStore::addresses(std::size_t snapshot) {
  const std::int64_t since = now_ns() - last_commit_ns_.load(std::memory_order_relaxed);
  const std::lock_guard lock(addresses_mutex_);
  if (addresses_snapshot_ == snapshot) return addresses_;
  if (std::chrono::nanoseconds(since) < quiet) return nullptr;
  addresses_ = std::make_shared<ValueAddresses>(records_, snapshot);
  addresses_snapshot_ = snapshot;
  return addresses_;
}

std::vector<std::string> CacheStore::notes() const {
  std::string text = "the cache has " + std::to_string(kept_.load(std::memory_order_relaxed)) + " of " +
                     std::to_string(records_) + " records";
  const std::string why = writer_ != nullptr ? writer_->ended() : std::string();
  if (writer_ == nullptr)
    text += "; another process writes to it, this one only reads";
  else if (!why.empty())
    text += "; " + why + "; the other records are made anew";
  std::vector<std::string> notes{std::move(text)};
  if (const std::uint64_t declined = declined_.load(std::memory_order_relaxed);
      declined != 0 && writer_ != nullptr && why.empty())
    notes.push_back(
        std::to_string(declined) +
        " times a record was made and not kept, as the disk took no more at that moment; it is offered again "
        "when it is made again (`max_queue_bytes`)");
  if (const std::uint64_t damages = damages_.load(std::memory_order_relaxed); damages != 0)
    notes.push_back("records of the cache were found damaged " + std::to_string(damages) +
                    " times and made anew; of those " + std::to_string(mended_.load(std::memory_order_relaxed)) +
                    " were replaced. Is the disk failing?");
  return notes;
}

}  // namespace penstock::lmdb
