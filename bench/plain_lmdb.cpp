// SPDX-License-Identifier: Apache-2.0
#include "plain_lmdb.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace penstock::bench {

namespace {

void check(int code, const char* call) {
  if (code != 0) throw std::runtime_error(fmt::format("{}: {}", call, ::mdb_strerror(code)));
}

}  // namespace

PlainStore::PlainStore(const std::filesystem::path& folder, bool read_ahead) {
  check(::mdb_env_create(&env_), "mdb_env_create");
  const unsigned flags = MDB_RDONLY | MDB_NOTLS | MDB_NOLOCK | (read_ahead ? 0u : MDB_NORDAHEAD);
  if (const int code = ::mdb_env_open(env_, folder.c_str(), flags, 0644); code != 0) {
    ::mdb_env_close(env_);
    check(code, "mdb_env_open");
  }
}
PlainStore::~PlainStore() { ::mdb_env_close(env_); }

PlainReader::PlainReader(const PlainStore& store) {
  check(::mdb_txn_begin(store.env(), nullptr, MDB_RDONLY, &txn_), "mdb_txn_begin");
  if (const int code = ::mdb_dbi_open(txn_, nullptr, 0, &dbi_); code != 0) {
    ::mdb_txn_abort(txn_);
    check(code, "mdb_dbi_open");
  }
}
PlainReader::PlainReader(PlainReader&& other) noexcept : txn_(std::exchange(other.txn_, nullptr)), dbi_(other.dbi_) {}
PlainReader::~PlainReader() {
  if (txn_ != nullptr) ::mdb_txn_abort(txn_);
}
void PlainReader::fail(int code, const char* call) {
  check(code, call);
  throw std::runtime_error(call);
}

void PlainReader::keys(const std::function<void(std::string_view)>& each) const {
  MDB_cursor* cursor = nullptr;
  check(::mdb_cursor_open(txn_, dbi_, &cursor), "mdb_cursor_open");
  MDB_val key{};
  while (::mdb_cursor_get(cursor, &key, nullptr, MDB_NEXT) == 0)
    each({static_cast<const char*>(key.mv_data), key.mv_size});
  ::mdb_cursor_close(cursor);
}

PlainWriter::PlainWriter(const std::filesystem::path& folder, std::size_t map_bytes) {
  std::filesystem::create_directories(folder);
  check(::mdb_env_create(&env_), "mdb_env_create");
  try {
    check(::mdb_env_set_mapsize(env_, map_bytes), "mdb_env_set_mapsize");
    check(::mdb_env_open(env_, folder.c_str(), MDB_NOSYNC, 0644), "mdb_env_open");
    begin();
  } catch (...) {
    ::mdb_env_close(env_);
    throw;
  }
}
PlainWriter::~PlainWriter() {
  if (txn_ != nullptr) ::mdb_txn_abort(txn_);
  ::mdb_env_close(env_);
}

void PlainWriter::begin() {
  check(::mdb_txn_begin(env_, nullptr, 0, &txn_), "mdb_txn_begin");
  check(::mdb_dbi_open(txn_, nullptr, 0, &dbi_), "mdb_dbi_open");
}
void PlainWriter::commit() { check(::mdb_txn_commit(std::exchange(txn_, nullptr)), "mdb_txn_commit"); }

std::span<std::byte> PlainWriter::reserve(std::string_view key, std::size_t bytes) {
  if (pending_ == 1000) {
    commit();
    begin();
    pending_ = 0;
  }
  ++pending_;
  MDB_val k{key.size(), const_cast<char*>(key.data())}, v{bytes, nullptr};
  check(::mdb_put(txn_, dbi_, &k, &v, MDB_APPEND | MDB_RESERVE), "mdb_put");
  return {static_cast<std::byte*>(v.mv_data), bytes};
}
void PlainWriter::put(std::string_view key, std::span<const std::byte> value) {
  const std::span<std::byte> room = reserve(key, value.size());
  std::memcpy(room.data(), value.data(), value.size());
}
void PlainWriter::finish() {
  commit();
  check(::mdb_env_sync(env_, 1), "mdb_env_sync");
}

}  // namespace penstock::bench
