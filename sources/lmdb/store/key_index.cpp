// SPDX-License-Identifier: Apache-2.0
#include "store/key_index.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/hash.hpp"
#include "store/manifest.hpp"

namespace penstock::lmdb {

namespace {

constexpr std::string_view doing = "reading the store's keys";
// The fewest bytes that a record takes in LMDB's pages: a head of 8 bytes, 2 bytes that point to it, and a key of 1
// byte.
constexpr std::uint64_t min_node_bytes = 8 + 2 + 1;

std::optional<std::uint64_t> decimal(std::string_view key) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (failed != std::errc() || end != key.data() + key.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> big_endian(std::string_view key) {
  if (key.size() != 4 && key.size() != 8) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : key) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

[[noreturn]] void refuse_count(std::uint64_t count, const std::string& why, const std::string& file) {
  throw error_in(file, Errc::corrupt, "the store says it has " + std::to_string(count) + " records, " + why);
}

// Returns the first or the last key that is not the manifest's. Returns nothing if the store has no records.
std::optional<std::string_view> outermost(MDB_cursor* cursor, MDB_cursor_op start, MDB_cursor_op on,
                                          const std::string& file) {
  MDB_val key{};
  int code = mdb_cursor_get(cursor, &key, nullptr, start);
  if (code == 0 && text_of(key) == manifest_key) code = mdb_cursor_get(cursor, &key, nullptr, on);
  if (code == MDB_NOTFOUND) return std::nullopt;
  check(code, doing, file);
  return text_of(key);
}

}  // namespace

KeyIndex KeyIndex::of(MDB_txn* txn, const Environment& environment) {
  const std::string& file = environment.file();
  KeyIndex made;
  MDB_stat stat{};
  check(mdb_stat(txn, environment.table(), &stat), doing, file);
  const std::uint64_t file_bytes = environment.bytes_now();
  MDB_val key = value_of(manifest_key), value{};
  const bool manifest = mdb_get(txn, environment.table(), &key, &value) == 0;
  // Checks the number of entries before memory is allocated for that many.
  if (stat.ms_entries > file_bytes / min_node_bytes || (manifest && stat.ms_entries == 0))
    refuse_count(stat.ms_entries, "which its " + std::to_string(file_bytes) + " bytes can't hold", file);
  made.size_ = stat.ms_entries - (manifest ? 1 : 0);

  MDB_cursor* cursor = nullptr;
  check(mdb_cursor_open(txn, environment.table(), &cursor), doing, file);
  const std::unique_ptr<MDB_cursor, decltype([](MDB_cursor* c) { mdb_cursor_close(c); })> guard(cursor);
  const auto first = outermost(cursor, MDB_FIRST, MDB_NEXT, file);
  const auto last = outermost(cursor, MDB_LAST, MDB_PREV, file);
  if (!first || !last) {
    if (made.size_ != 0) refuse_count(stat.ms_entries, "but none were found", file);
    return made;
  }

  if (made.try_consecutive(*first, *last, txn, environment.table())) {
    made.hash_ = hash_bytes(*first, hash_bytes(*last, made.size_));
  } else {
    made.list_all(cursor, file, file_bytes);
  }
  return made;
}

// Decides from the first key, the last key and the number of records whether the keys are consecutive numbers. A key
// between the first and the last one could still have another form, so some keys are looked up.
bool KeyIndex::try_consecutive(std::string_view first, std::string_view last, MDB_txn* txn, MDB_dbi table) {
  constexpr std::uint64_t probes = 16;
  if (size_ == 0 || first.size() != last.size() || first.size() > KeyBuffer().size()) return false;
  for (const Kind kind : {Kind::decimal, Kind::big_endian}) {
    const auto begin = kind == Kind::decimal ? decimal(first) : big_endian(first);
    const auto end = kind == Kind::decimal ? decimal(last) : big_endian(last);
    if (!begin || !end || *end < *begin || *end - *begin != size_ - 1) continue;
    kind_ = kind;
    width_ = first.size();
    first_ = *begin;
    bool all = true;
    for (std::uint64_t probe = 0; probe < probes && all; ++probe) {
      KeyBuffer buffer;
      const std::string_view wanted = key((size_ - 1) / probes * probe + (size_ - 1) % probes * probe / probes, buffer);
      MDB_val name = value_of(wanted), value{};
      all = mdb_get(txn, table, &name, &value) == 0;
    }
    if (all) return true;
  }
  kind_ = Kind::table;
  return false;
}

void KeyIndex::list_all(MDB_cursor* cursor, const std::string& file, std::uint64_t file_bytes) {
  kind_ = Kind::table;
  ++passes_;
  ends_.reserve(size_);
  MDB_val key{};
  int code = mdb_cursor_get(cursor, &key, nullptr, MDB_FIRST);
  for (; code == 0; code = mdb_cursor_get(cursor, &key, nullptr, MDB_NEXT)) {
    const std::string_view name = text_of(key);
    if (name == manifest_key) continue;
    if (ends_.size() == size_) refuse_count(size_, "but more were found", file);
    if (ends_.empty()) bytes_.reserve(static_cast<std::size_t>(std::min(size_ * name.size(), file_bytes)));
    bytes_ += name;
    ends_.push_back(bytes_.size());
  }
  if (code != MDB_NOTFOUND) check(code, doing, file);
  if (ends_.size() != size_) refuse_count(size_, "but " + std::to_string(ends_.size()) + " were found", file);
  const std::string_view ends{reinterpret_cast<const char*>(ends_.data()), ends_.size() * sizeof(ends_[0])};
  hash_ = hash_bytes(bytes_, hash_bytes(ends, size_));
}

}  // namespace penstock::lmdb
