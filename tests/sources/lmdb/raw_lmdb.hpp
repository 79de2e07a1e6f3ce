// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace penstock_test {

inline void must(int code) {
  if (code != 0) throw std::runtime_error(mdb_strerror(code));
}

using Pairs = std::map<std::string, std::string>;

// Stores as others write and read them, through LMDB alone. Each call opens and closes the store.
struct RawLmdb {
  std::string path;
  unsigned flags = 0;

  MDB_env* open(unsigned more = 0, std::size_t map_bytes = std::size_t{1} << 30) const {
    MDB_env* env = nullptr;
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, map_bytes));
    if (((flags | more) & MDB_NOSUBDIR) == 0) std::filesystem::create_directories(path);
    must(mdb_env_open(env, path.c_str(), flags | more | MDB_NOSYNC, 0644));
    return env;
  }
  void write(const Pairs& pairs) const {
    MDB_env* env = open();
    MDB_txn* txn = nullptr;
    MDB_dbi table = 0;
    must(mdb_txn_begin(env, nullptr, 0, &txn));
    must(mdb_dbi_open(txn, nullptr, 0, &table));
    for (const auto& [name, content] : pairs) {
      MDB_val key{name.size(), const_cast<char*>(name.data())},
          value{content.size(), const_cast<char*>(content.data())};
      must(mdb_put(txn, table, &key, &value, 0));
    }
    must(mdb_txn_commit(txn));
    mdb_env_close(env);
  }
  Pairs read() const {
    Pairs pairs;
    MDB_env* env = open(MDB_RDONLY);
    MDB_txn* txn = nullptr;
    MDB_dbi table = 0;
    must(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn));
    must(mdb_dbi_open(txn, nullptr, 0, &table));
    MDB_cursor* cursor = nullptr;
    must(mdb_cursor_open(txn, table, &cursor));
    MDB_val key{}, value{};
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0)
      pairs.emplace(std::string(static_cast<char*>(key.mv_data), key.mv_size),
                    std::string(static_cast<char*>(value.mv_data), value.mv_size));
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return pairs;
  }
};

// "00000007"
inline std::string decimal_key(std::uint64_t number, std::size_t width = 8) {
  const std::string digits = std::to_string(number);
  return std::string(width - digits.size(), '0') + digits;
}

inline Pairs numbered(std::uint64_t count, std::size_t bytes = 40) {
  Pairs pairs;
  for (std::uint64_t i = 0; i < count; ++i)
    pairs[decimal_key(i)] = std::string(bytes, static_cast<char>('a' + i % 26)) + std::to_string(i);
  return pairs;
}

}  // namespace penstock_test
