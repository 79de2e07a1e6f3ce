// SPDX-License-Identifier: Apache-2.0
#include "sink/write_store.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>
#include <utility>

#include <penstock/sources/lmdb_sink.hpp>

#include "sink/early_writeback.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/registry.hpp"

namespace penstock::lmdb {

namespace {

constexpr std::size_t longest_key = LmdbSink::max_key_bytes;
constexpr std::uint64_t max_bytes = 0xffffffffu;
// A put may change and split each page between the root and a leaf. This is enough, because LMDB's trees have
// few levels.
constexpr std::uint64_t tree_pages_a_put = 12;
// If a transaction has more than 131,071 dirty pages, LMDB begins to spill them to the file.
constexpr std::uint64_t max_dirty_pages = 100'000;
constexpr std::uint64_t spare_pages = 64;
// If a commit is synced and has at least this many bytes, a thread for EarlyWriteback is started. Fewer bytes are
// written in less time than a thread takes to start.
constexpr std::size_t worth_early_bytes = std::size_t{4} << 20;

}  // namespace

WriteStore::WriteStore(const StoreFiles& files, std::size_t map_bytes, bool sync, std::unique_ptr<WritersLock> lock)
    : environment_(own_for_writing(files, map_bytes, sync, std::move(lock))), syncs_(sync) {
  MDB_stat stat{};
  check(mdb_env_stat(environment_->handle(), &stat), "opening the store", file());
  page_bytes_ = stat.ms_psize;
  try {
    find_last_key();
  } catch (...) {
    abort();
    throw;
  }
  abort();
}

void WriteStore::find_last_key() {
  MDB_cursor* opened = nullptr;
  check(mdb_cursor_open(begin(), environment_->table(), &opened), "opening the store", file());
  const std::unique_ptr<MDB_cursor, decltype([](MDB_cursor* c) { mdb_cursor_close(c); })> cursor(opened);
  MDB_val key{};
  const int code = mdb_cursor_get(cursor.get(), &key, nullptr, MDB_LAST);
  if (code == 0) last_key_.assign(text_of(key));
  if (code != MDB_NOTFOUND) check(code, "reading the last key", file());
}

WriteStore::~WriteStore() { abort(); }

void WriteStore::abort() noexcept {
  if (txn_ != nullptr && environment_->usable()) mdb_txn_abort(txn_);
  txn_ = nullptr;
}

void WriteStore::fail(int code, std::string_view doing, std::size_t bytes, std::string_view key) {
  failed_ = true;
  abort();
  Error error = write_error(code, doing, file(), bytes);
  if (!key.empty()) error.with_key(key);
  throw error;
}

MDB_txn* WriteStore::begin() {
  environment_->require_usable();
  if (failed_) {
    throw error_in(file(), Errc::closed, "writing to the store failed before; run it again to go on");
  }
  if (txn_ != nullptr) return txn_;
  const int code = mdb_txn_begin(environment_->handle(), nullptr, 0, &txn_);
  if (code != 0) {
    txn_ = nullptr;
    fail(code, "beginning to write", 0);
  }
  MDB_envinfo info{};
  check(mdb_env_info(environment_->handle(), &info), "beginning to write", file());
  const std::uint64_t all = info.me_mapsize / page_bytes_, used = info.me_last_pgno + 1;
  free_pages_ = all > used ? all - used : 0;
  dirty_pages_ = 0;
  uncommitted_bytes_ = 0;
  return txn_;
}

std::uint64_t WriteStore::pages_for(std::size_t bytes) const noexcept {
  constexpr std::size_t page_header = 16;
  return (bytes + page_header + page_bytes_ - 1) / page_bytes_ + tree_pages_a_put;
}

// Makes sure that the next put or erase does not fill the map. If the map got full, the whole transaction would be
// lost. An erase frees `freed` pages. If the map might be filled, commits, and grows the map. Also commits if the
// transaction has `max_dirty_pages`. A commit needs room, too, for its list of freed pages, which has at most 8 bytes
// per changed page.
void WriteStore::make_room(std::size_t bytes, std::uint64_t freed) {
  const auto needed = [&] {
    const std::uint64_t list_pages = 2 * ((dirty_pages_ + freed) * sizeof(std::uint64_t) / page_bytes_ + 1);
    return pages_for(bytes) + list_pages + spare_pages;
  };
  begin();
  if (dirty_pages_ >= max_dirty_pages) {
    commit();
    begin();
  }
  if (free_pages_ < needed()) {
    // Grows the map even if the commit has made enough room. Otherwise, near the end of the map, each put would commit.
    commit();
    dirty_pages_ = 0;
    grow(needed() + spare_pages);
    begin();
  }
}

void WriteStore::grow(std::uint64_t pages) {
  MDB_envinfo info{};
  check(mdb_env_info(environment_->handle(), &info), "growing the store", file());
  const std::uint64_t used = (info.me_last_pgno + 1) * page_bytes_;
  const std::uint64_t wanted = std::max<std::uint64_t>(info.me_mapsize / 2 * 3, used + pages * page_bytes_);
  const int code = mdb_env_set_mapsize(environment_->handle(), (wanted / page_bytes_ + 1) * page_bytes_);
  if (code != 0) fail(code, "growing the store's memory map to " + std::to_string(wanted) + " bytes", 0);
}

void* WriteStore::place(std::string_view key, std::size_t bytes, void* from) {
  if (key.empty() || key.size() > longest_key) {
    throw error_in(
        file(), Errc::invalid_argument,
        "the key has " + std::to_string(key.size()) + " bytes; LMDB takes keys of 1 to " + std::to_string(longest_key))
        .with_key(key);
  }
  if (bytes > max_bytes) {
    throw error_in(file(), Errc::limit_exceeded,
                   "the record has " + std::to_string(bytes) + " bytes; LMDB takes fewer than 4 GiB")
        .with_key(key);
  }
  make_room(bytes);
  const bool append = key > last_key_;
  MDB_val name = value_of(key), value{bytes, from};
  const unsigned flags = (append ? MDB_APPEND : MDB_NOOVERWRITE) | (from == nullptr ? MDB_RESERVE : 0u);
  const int code = mdb_put(txn_, environment_->table(), &name, &value, flags);
  if (code == MDB_KEYEXIST) {
    throw error_in(file(), Errc::invalid_argument, "two records have the key \"" + printable(key) + "\"").with_key(key);
  }
  if (code != 0) fail(code, "writing a record", bytes, key);
  if (append) last_key_.assign(key);
  const std::uint64_t pages = pages_for(bytes);
  free_pages_ -= std::min(free_pages_, pages);
  dirty_pages_ += tree_pages_a_put + 1;
  uncommitted_bytes_ += bytes;
  return value.mv_data;
}

std::span<std::byte> WriteStore::reserve(std::string_view key, std::size_t bytes) {
  return {static_cast<std::byte*>(place(key, bytes, nullptr)), bytes};
}

void WriteStore::put(std::string_view key, std::span<const std::byte> value) {
  static std::byte nothing{};  // an empty value needs an address, because with null, `place` only reserves room
  place(key, value.size(), value.empty() ? &nothing : const_cast<std::byte*>(value.data()));
}

void WriteStore::replace(std::string_view key, std::string_view value) {
  make_room(value.size());
  MDB_val name = value_of(key), content = value_of(value);
  const int code = mdb_put(txn_, environment_->table(), &name, &content, 0);
  if (code != 0) fail(code, "writing the manifest", value.size());
  uncommitted_bytes_ += value.size();
  ++dirty_pages_;
  if (key > last_key_) last_key_.assign(key);
  commit();
}

void WriteStore::commit() {
  if (txn_ == nullptr) return;
  environment_->require_usable();
  // LMDB frees a transaction's pages at the commit. If the heap shrank then, allocating pages again would take a fifth
  // of the writing time.
  heap_end_.keep(uncommitted_bytes_);
  const int code = [&] {
    std::optional<EarlyWriteback> early;
    if (syncs_ && uncommitted_bytes_ >= worth_early_bytes) early.emplace(descriptor());
    return mdb_txn_commit(std::exchange(txn_, nullptr));
  }();
  if (code != 0) fail(code, "committing", uncommitted_bytes_);
}

int WriteStore::descriptor() const {
  mdb_filehandle_t descriptor = -1;
  check(mdb_env_get_fd(environment_->handle(), &descriptor), "committing", file());
  return descriptor;
}

void WriteStore::sync() {
  int code = EINTR;
  while (code == EINTR) code = mdb_env_sync(environment_->handle(), 1);
  if (code != 0) fail(code, "syncing the store", 0);
}

void WriteStore::sync_from_now_on() {
  sync();
  check(mdb_env_set_flags(environment_->handle(), MDB_NOSYNC, 0), "syncing the store", file());
  syncs_ = true;
}

std::uint64_t WriteStore::entries() {
  MDB_stat stat{};
  check(mdb_stat(begin(), environment_->table(), &stat), "reading the store", file());
  return stat.ms_entries;
}

bool WriteStore::has(std::string_view key) {
  if (key > last_key_ || key.empty() || key.size() > longest_key) return false;
  MDB_val name = value_of(key), value{};
  const int code = mdb_get(begin(), environment_->table(), &name, &value);
  if (code == MDB_NOTFOUND) return false;
  check(code, "reading the store", file());
  return true;
}

std::optional<std::string> WriteStore::get(std::string_view key) {
  MDB_val name = value_of(key), value{};
  const int code = mdb_get(begin(), environment_->table(), &name, &value);
  if (code == MDB_NOTFOUND) return std::nullopt;
  check(code, "reading the store", file());
  return std::string(text_of(value));
}

std::optional<std::span<const std::byte>> WriteStore::view(std::string_view key) {
  if (key.empty() || key.size() > longest_key) return std::nullopt;
  MDB_val name = value_of(key), value{};
  const int code = mdb_get(begin(), environment_->table(), &name, &value);
  if (code == MDB_NOTFOUND) return std::nullopt;
  check(code, "reading the store", file());
  return std::as_bytes(std::span(text_of(value)));
}

void WriteStore::erase(std::string_view key) {
  const auto there = view(key);
  const std::uint64_t freed = there ? pages_for(there->size()) : 0;
  make_room(0, freed);
  MDB_val name = value_of(key);
  const int code = mdb_del(txn_, environment_->table(), &name, nullptr);
  if (code != 0) fail(code, "removing a record", 0, key);
  dirty_pages_ += freed + 1;
}

std::vector<std::string> WriteStore::keys_where(const std::function<bool(std::string_view)>& wanted) {
  std::vector<std::string> keys;
  MDB_cursor* opened = nullptr;
  check(mdb_cursor_open(begin(), environment_->table(), &opened), "reading the store", file());
  const std::unique_ptr<MDB_cursor, decltype([](MDB_cursor* c) { mdb_cursor_close(c); })> cursor(opened);
  MDB_val name{}, value{};
  int code = mdb_cursor_get(opened, &name, &value, MDB_FIRST);
  for (; code == 0; code = mdb_cursor_get(opened, &name, &value, MDB_NEXT))
    if (wanted(text_of(name))) keys.emplace_back(text_of(name));
  if (code != MDB_NOTFOUND) check(code, "reading the store", file());
  return keys;
}

}  // namespace penstock::lmdb
