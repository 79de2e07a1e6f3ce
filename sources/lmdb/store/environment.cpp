// SPDX-License-Identifier: Apache-2.0
#include "store/environment.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/header.hpp"
#include "store/lock_file.hpp"
#include "store/map_base.hpp"
#include "store/missing_pages.hpp"
#include "store/registry.hpp"

namespace penstock::lmdb {

namespace {

// A reader's map goes this far beyond the file's end, so that another process can make the file larger while this
// process has it open. This takes address space, but no memory. If the system refuses so much, the map ends near the
// file's end.
constexpr std::uint64_t spare_address_space = std::uint64_t{64} << 30;
constexpr std::uint64_t map_granularity = 64u << 10;  // a multiple of any page size
constexpr mdb_mode_t store_mode = 0664;
constexpr const char* opened_without = "a source with lock_file = false has the store open in this process";

struct Closer {
  void operator()(MDB_env* env) const noexcept { mdb_env_close(env); }
};
using Handle = std::unique_ptr<MDB_env, Closer>;

Handle create(const std::string& file) {
  MDB_env* env = nullptr;
  check(mdb_env_create(&env), "opening the store", file);
  return Handle(env);
}

int open_once(Handle& handle, const StoreFiles& files, unsigned flags, std::uint64_t map_bytes) {
  handle.reset();
  handle = create(files.data);
  check(mdb_env_set_maxreaders(handle.get(), reader_slots), "opening the store", files.data);
  // `open_table` tries to open some records as named tables, to find out whether they are tables.
  check(mdb_env_set_maxdbs(handle.get(), 1), "opening the store", files.data);
  const std::uint64_t rounded = (map_bytes / map_granularity + 1) * map_granularity;
  check(mdb_env_set_mapsize(handle.get(), rounded), "opening the store", files.data);
  return mdb_env_open(handle.get(), files.path.c_str(), flags, store_mode);
}

int open(Handle& handle, const StoreFiles& files, unsigned flags, std::uint64_t map_bytes) {
  require_page_size(files.data);
  int code = EINTR;
  while (code == EINTR) code = open_once(handle, files, flags, map_bytes);
  return code;
}

}  // namespace

std::unique_ptr<Environment> Environment::for_reading(const StoreFiles& files, bool read_ahead, bool lock_file) {
  const auto facts = facts_of(files.data);
  if (facts && facts->bytes == 0) {
    throw error_in(files.data, Errc::corrupt, "the file is empty: nothing was ever written to the store");
  }
  if (facts && !begins_as_lmdb(files.data)) check(MDB_INVALID, "opening the store", files.data);
  const std::uint64_t bytes = facts ? facts->bytes : 0;
  unsigned flags = MDB_RDONLY | MDB_NOTLS;
  if (!read_ahead) flags |= MDB_NORDAHEAD;
  if (files.single_file) flags |= MDB_NOSUBDIR;

  std::unique_ptr<Environment> made(new Environment(files.data));
  const bool uses_it = lock_file || lock_file_in_use(files.lock);
  const LockFileRoom room = uses_it ? reserve_lock_file(files.lock) : LockFileRoom{};
  if (!uses_it) {
    made->by_wish_ = true;
    made->without_lock_file_ = "nobody else uses it, and nothing is to be written beside what is read";
  } else if (room.no_room() && !room.in_use) {
    // No process uses the lock file, so no process has the store open for writing. The store is read without the lock
    // file.
    made->without_lock_file_ = "there is no room for it on the disk";
  } else if (room.no_room()) {
    throw write_error(room.code, "keeping room for the lock file, which another process uses", files.lock,
                      lock_file_bytes);
  } else if (room.code != 0) {
    made->without_lock_file_ = "it can't be made, or not be written to, here";
  }
  if (!made->without_lock_file_.empty()) flags |= MDB_NOLOCK;
  Handle handle;
  std::uint64_t map_bytes = bytes + spare_address_space;
  int code = open(handle, files, flags, map_bytes);
  if (code == ENOMEM) {
    map_bytes = bytes;
    code = open(handle, files, flags, map_bytes);
  }
  check(code, "opening the store", files.data);
  made->env_ = handle.release();
  check(mdb_env_get_fd(made->env_, &made->descriptor_), "opening the store", files.data);
  if (uses_it && !made->without_lock_file_.empty()) made->keep_writers_out(files, made->without_lock_file_);
  made->opened_at_ = made->last_transaction();
  made->check_length();
  int cleared = 0;
  check(mdb_reader_check(made->env_, &cleared), "clearing the slots of dead readers", files.data);
  made->open_table();
  return made;
}

// Keeps writers out by a lock on the data file. A writer can't notice a reader without a lock file, and would overwrite
// pages that are being read. Throws if a writer in another process has locked the file. If the file system can't lock
// files, there is no protection.
void Environment::keep_writers_out(const StoreFiles& files, const std::string& why) {
  if (uninterrupted([&] { return ::flock(descriptor_, LOCK_SH | LOCK_NB); }) != 0 && errno == EWOULDBLOCK)
    throw error_in(files.data, Errc::invalid_argument,
                   "LMDB's lock file can't be used, as " + why + ", and " + busy_text(files));
  keeps_out_ = true;
}

std::string Environment::without_lock_file(bool wanted) const {
  return by_wish_ && wanted ? opened_without : without_lock_file_;
}

void Environment::join(const StoreFiles& files) {
  require_unchanged();
  if (!by_wish_ || keeps_out_) return;
  keep_writers_out(files, opened_without);
}

std::size_t Environment::last_transaction() const {
  MDB_envinfo info{};
  check(mdb_env_info(env_, &info), "reading the store", file_);
  return info.me_last_txnid;
}

void Environment::compare_transaction() const {
  std::atomic_thread_fence(std::memory_order_acquire);  // the transaction's number must be read after the values
  if (last_transaction() != opened_at_)
    throw error_in(file_, Errc::invalid_argument,
                   "somebody wrote to the store while it was read without LMDB's lock file; read it again when nobody "
                   "writes to it");
}

std::unique_ptr<Environment> Environment::for_writing(const StoreFiles& files, std::size_t map_bytes, bool sync,
                                                      std::unique_ptr<WritersLock> lock) {
  const auto facts = facts_of(files.data);
  const std::uint64_t bytes = facts ? facts->bytes : 0;
  unsigned flags = MDB_NORDAHEAD | MDB_NOTLS;
  if (files.single_file) flags |= MDB_NOSUBDIR;
  if (!sync) flags |= MDB_NOSYNC;

  std::unique_ptr<Environment> made(new Environment(files.data));
  made->lock_ = std::move(lock);
  if (const int code = reserve_lock_file(files.lock).code; code != 0)
    throw write_error(code, "keeping room for the lock file", files.lock, lock_file_bytes);
  Handle handle;
  const int code = open(handle, files, flags, std::max<std::uint64_t>(map_bytes, bytes));
  if (code != 0) throw write_error(code, "opening the store for writing", files.data, bytes == 0 ? header_bytes() : 0);
  made->env_ = handle.release();
  check(mdb_env_get_fd(made->env_, &made->descriptor_), "opening the store", files.data);
  made->check_length();
  int cleared = 0;
  check(mdb_reader_check(made->env_, &cleared), "clearing the slots of dead readers", files.data);
  made->open_table();
  return made;
}

Environment::~Environment() {
  if (env_ == nullptr) return;
  // Unlocks explicitly. While a child made by fork() has a copy of the descriptor, closing it here would not release
  // the lock.
  if (!without_lock_file_.empty()) ::flock(descriptor_, LOCK_UN);
  mdb_env_close(env_);
}

bool Environment::usable() const noexcept { return process_ == process_generation(); }

void Environment::require_usable() const {
  if (usable()) [[likely]]
    return;
  throw error_in(file_, Errc::forked,
                 "this process was made by fork() after the store was opened; open the store in it anew");
}

std::uint64_t Environment::bytes_now() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw error_of(errno, "looking at the store", file_);
  return static_cast<std::uint64_t>(status.st_size);
}

void Environment::check_length() {
  MDB_stat stat{};
  check(mdb_env_stat(env_, &stat), "opening the store", file_);
  const auto header = [&] {
    MDB_envinfo info{};
    check(mdb_env_info(env_, &info), "opening the store", file_);
    return info;
  };
  for (MDB_envinfo info = header();;) {
    const std::uint64_t have = bytes_now();
    const bool all_there = info.me_last_pgno < have / stat.ms_psize;
    std::uint64_t said = 0;
    if (__builtin_mul_overflow(info.me_last_pgno, stat.ms_psize, &said) ||
        __builtin_add_overflow(said, stat.ms_psize, &said))
      said = ~std::uint64_t{0};
    if (all_there || lacks_free_pages_only({.descriptor = descriptor_,
                                            .page_bytes = stat.ms_psize,
                                            .bytes = have,
                                            .last_page = info.me_last_pgno,
                                            .transaction = info.me_last_txnid})) {
      needed_bytes_ = std::min(said, have);
      file_bytes_ = have;
      return;
    }
    const std::size_t transaction = info.me_last_txnid;
    info = header();
    if (info.me_last_txnid != transaction) continue;  // another process wrote at the same time
    throw error_in(file_, Errc::corrupt,
                   "the file is truncated: it has " + std::to_string(have) + " bytes, its header says " +
                       std::to_string(said) + "; copy or make it again")
        .with_offset(have);
  }
}

void Environment::require_full_length() const {
  const std::uint64_t have = bytes_now();
  if (have >= needed_bytes_) [[likely]]
    return;
  throw error_in(file_, Errc::io,
                 "the file was cut short while it was open: it has " + std::to_string(have) + " bytes of " +
                     std::to_string(needed_bytes_))
      .with_offset(have);
}

bool Environment::holds_now(const MDB_val& value) const noexcept {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return false;
  const auto have = static_cast<std::uint64_t>(status.st_size);
  file_bytes_.store(have, std::memory_order_relaxed);
  return ends_within(offset_of(value.mv_data), value.mv_size, have);
}

void Environment::open_table() {
  process_ = process_generation();
  MDB_txn* txn = nullptr;
  check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn), "opening the store", file_);
  const std::unique_ptr<MDB_txn, decltype([](MDB_txn* t) { mdb_txn_abort(t); })> guard(txn);
  check(mdb_dbi_open(txn, nullptr, 0, &table_), "opening the store", file_);
  unsigned flags = 0;
  check(mdb_dbi_flags(txn, table_, &flags), "opening the store", file_);
  if ((flags & MDB_DUPSORT) != 0) {
    throw error_in(file_, Errc::unsupported,
                   "the store holds several values for one key (MDB_DUPSORT), which is not supported");
  }
  MDB_cursor* cursor = nullptr;
  check(mdb_cursor_open(txn, table_, &cursor), "opening the store", file_);
  const std::unique_ptr<MDB_cursor, decltype([](MDB_cursor* c) { mdb_cursor_close(c); })> cursor_guard(cursor);
  MDB_val key{}, value{};
  int code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
  if (code == MDB_NOTFOUND) return;
  check(code, "reading the first record", file_);
  base_ = map_base(value.mv_data);
  // LMDB keeps a named table as a record of the main table. The record's key is the table's name.
  constexpr int looked_at = 4;
  for (int i = 0; i < looked_at && code == 0; ++i) {
    const std::string name(text_of(key));
    MDB_dbi named = 0;
    if (name.find('\0') == std::string::npos && mdb_dbi_open(txn, name.c_str(), 0, &named) == 0) {
      throw error_in(file_, Errc::unsupported,
                     "the store holds named tables, like \"" + printable(name) +
                         "\", not records; only a store's main table can be read");
    }
    code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
}

}  // namespace penstock::lmdb
