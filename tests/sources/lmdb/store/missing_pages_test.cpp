// SPDX-License-Identifier: Apache-2.0
// Files that are shorter than their header says: LMDB leaves them so where the last pages are free, and others are cut.
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "sources/lmdb/forged_file.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t page_bytes = 4096;

void in_transaction(const RawLmdb& store, const std::function<void(MDB_txn*, MDB_dbi)>& act) {
  MDB_env* env = store.open();
  MDB_txn* txn = nullptr;
  MDB_dbi table = 0;
  must(mdb_txn_begin(env, nullptr, 0, &txn));
  must(mdb_dbi_open(txn, nullptr, 0, &table));
  act(txn, table);
  must(mdb_txn_commit(txn));
  mdb_env_close(env);
}

void put(MDB_txn* txn, MDB_dbi table, std::string name, std::string content) {
  MDB_val key{name.size(), name.data()}, value{content.size(), content.data()};
  must(mdb_put(txn, table, &key, &value, 0));
}
void remove(MDB_txn* txn, MDB_dbi table, std::string name) {
  MDB_val key{name.size(), name.data()};
  must(mdb_del(txn, table, &key, nullptr));
}

std::uint64_t said_bytes(const RawLmdb& store) {
  MDB_env* env = store.open(MDB_RDONLY);
  MDB_envinfo info{};
  must(mdb_env_info(env, &info));
  mdb_env_close(env);
  return (info.me_last_pgno + 1) * page_bytes;
}

Pairs pairs_of(const LmdbSource& source) {
  Pairs pairs;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    OwnedSample record = read_sample(source, i);
    const auto bytes = record.sample().bytes("image");
    pairs.emplace(source.key(i), std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return pairs;
}

struct Short {
  const char* words;
  std::function<void(const RawLmdb&)> make;
};

std::string big(std::uint64_t pages) { return std::string(pages * page_bytes, 'x'); }

// Where LMDB has none at hand, it writes what it frees.
void write_with_free_pages(const RawLmdb& store) {
  store.write(numbered(60, 900));
  in_transaction(store, [](MDB_txn* txn, MDB_dbi table) { put(txn, table, "66666666", big(9)); });
  in_transaction(store, [](MDB_txn* txn, MDB_dbi table) { remove(txn, table, "66666666"); });
  in_transaction(store, [](MDB_txn* txn, MDB_dbi table) { put(txn, table, "55555555", "x"); });
}

const Short shorts[] = {
    {"a value that comes and goes",
     [](const RawLmdb& store) {
       in_transaction(store, [](MDB_txn* txn, MDB_dbi table) {
         put(txn, table, "99999999", big(40));
         remove(txn, table, "99999999");
       });
     }},
    {"many of them, some of which stay",
     [](const RawLmdb& store) {
       in_transaction(store, [](MDB_txn* txn, MDB_dbi table) {
         for (std::uint64_t i = 0; i < 60; ++i) put(txn, table, decimal_key(1000 + i), big(1 + i % 7));
         for (std::uint64_t i = 0; i < 60; ++i)
           if (i % 5 != 0) remove(txn, table, decimal_key(1000 + i));
         for (std::uint64_t i = 51; i < 60; ++i)
           if (i % 5 == 0) remove(txn, table, decimal_key(1000 + i));
       });
     }},
    {"free lists of several pages",
     [](const RawLmdb& store) {
       for (std::uint64_t round = 0; round < 3; ++round)
         in_transaction(store,
                        [&](MDB_txn* txn, MDB_dbi table) { put(txn, table, "88888888", big(700 + 100 * round)); });
       in_transaction(store, [](MDB_txn* txn, MDB_dbi table) {
         remove(txn, table, "88888888");
         put(txn, table, "99999999", big(2000));
         remove(txn, table, "99999999");
       });
     }},
};

}  // namespace

TEST_CASE("a file whose last pages are free is read, and refused where it is cut") {
  for (const Short& kind : shorts) {
    const TempFolder folder;
    const RawLmdb store{folder / "a"};
    write_with_free_pages(store);
    kind.make(store);
    const std::string file = folder / "a/data.mdb";
    const std::uint64_t whole = fs::file_size(file);
    CAPTURE(kind.words, whole, said_bytes(store));
    REQUIRE(whole < said_bytes(store));
    const Pairs pairs = store.read();
    CHECK(pairs_of(LmdbSource({.path = store.path, .values = LmdbValues::raw})) == pairs);
    // Whoever writes to it goes on with it.
    fs::copy(store.path, folder / "b", fs::copy_options::recursive);
    in_transaction({folder / "b"}, [](MDB_txn* txn, MDB_dbi table) { put(txn, table, "77777777", big(3)); });
    CHECK(pairs_of(LmdbSource({.path = folder / "b", .values = LmdbValues::raw})).size() == pairs.size() + 1);
    // At each page, and in each: refused or read right. Once it is refused, a shorter one is, too.
    const std::string cut = folder / "cut.mdb";
    std::uint64_t read = 0, refused = 0;
    fs::copy_file(file, cut);
    const std::uint64_t step = whole > 600 * page_bytes ? 7 * page_bytes / 2 : page_bytes / 2;
    for (std::uint64_t bytes = whole; bytes >= 3 * page_bytes; bytes -= step) {
      fs::resize_file(cut, bytes);
      CAPTURE(bytes);
      try {
        const LmdbSource source({.path = cut, .values = LmdbValues::raw});
        REQUIRE(pairs_of(source) == pairs);
        REQUIRE(refused == 0);
        ++read;
      } catch (const Error& error) {
        REQUIRE(error.code() == Errc::corrupt);
        REQUIRE(std::string(error.what()).find("truncated") != std::string::npos);
        ++refused;
      }
    }
    CHECK(read >= 1);
    CHECK(refused > 10);
  }
}

TEST_CASE("copies that LMDB makes of a file whose last pages are free are read") {
  const TempFolder folder;
  const RawLmdb store{folder / "a"};
  write_with_free_pages(store);
  for (const Short& kind : shorts) kind.make(store);
  const Pairs pairs = store.read();
  for (const unsigned compact : {0u, unsigned{MDB_CP_COMPACT}}) {
    const std::string copy = folder / ("copy" + std::to_string(compact));
    fs::create_directory(copy);
    MDB_env* env = store.open(MDB_RDONLY);
    must(mdb_env_copy2(env, copy.c_str(), compact));
    mdb_env_close(env);
    CAPTURE(compact, fs::file_size(copy + "/data.mdb"));
    CHECK(pairs_of(LmdbSource({.path = copy, .values = LmdbValues::raw})) == pairs);
  }
}

TEST_CASE("a list of free pages that is damaged is not believed") {
  for (const Short& kind : shorts) {
    const TempFolder folder;
    const RawLmdb store{folder / "a"};
    write_with_free_pages(store);
    kind.make(store);
    const std::string file = folder / "a/data.mdb";
    const Pairs pairs = store.read();
    const std::string whole = text_in(file);
    const auto number_at = [&](std::uint64_t at) {
      std::uint64_t number = 0;
      std::memcpy(&number, whole.data() + at, sizeof number);
      return number;
    };
    // Of the header that counts, the root of the tree of free pages, which no reader but ours looks at.
    constexpr std::uint64_t transaction_at = 144, root_at = 80;
    const std::uint64_t header = number_at(transaction_at) > number_at(page_bytes + transaction_at) ? 0 : page_bytes;
    const std::uint64_t root = number_at(header + root_at);
    REQUIRE(root < whole.size() / page_bytes);
    std::uint64_t refused = 0;
    for (std::uint64_t at = root * page_bytes; at < (root + 1) * page_bytes; at += 3)
      for (const char byte : {'\xff', '\0'}) {
        if (whole[at] == byte) continue;
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
            .seekp(static_cast<std::streamoff>(at))
            .put(byte);
        CAPTURE(kind.words, at);
        try {
          const LmdbSource source({.path = store.path, .values = LmdbValues::raw});
          REQUIRE(source.size() == pairs.size());
        } catch (const Error& error) {
          REQUIRE(error.code() == Errc::corrupt);
          ++refused;
        }
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
            .seekp(static_cast<std::streamoff>(at))
            .put(whole[at]);
      }
    CHECK(refused > 10);
    CHECK(pairs_of(LmdbSource({.path = store.path, .values = LmdbValues::raw})) == pairs);
  }
}

namespace {

struct Forgery {
  const char* words;
  Pairs pairs;
  std::function<void(ForgedFile&)> forge;
};

const Pairs many = numbered(60, 900), one_large = {{"a", big(3)}};

Forgery page_size(const char* words, std::uint32_t bytes, bool of_other) {
  return {words, many, [=](ForgedFile& file) {
            const std::uint64_t header = of_other ? ForgedFile::page_bytes - file.header() : file.header();
            file.put<std::uint32_t>(header + ForgedFile::page_bytes_at, bytes);
          }};
}

const Forgery forgeries[] = {
    {"a root that is missing and free", many,
     [](ForgedFile& file) { file.put(file.header() + ForgedFile::root_of_main_at, file.lose_free_page()); }},
    {"a leaf that is missing and free", many,
     [](ForgedFile& file) { file.put(file.first_node(), static_cast<std::uint32_t>(file.lose_free_page())); }},
    {"a large value that is missing and free", one_large,
     [](ForgedFile& file) { file.put(file.first_node() + 9, file.lose_free_page()); }},
    {"a large value whose end is missing and free", one_large,
     [](ForgedFile& file) { file.put(file.first_node() + 9, file.lose_free_page() - 2); }},
    {"a tree that is its own child", many,
     [](ForgedFile& file) {
       file.lose_free_page();
       file.put(file.first_node(), file.number<std::uint32_t>(file.header() + ForgedFile::root_of_main_at));
     }},
    {"a list of free pages that is named twice", many,
     [](ForgedFile& file) {
       const std::uint64_t last = file.lose_free_page() + 1;
       const std::string list = ForgedFile::text_of(1) + ForgedFile::text_of(last);
       file.put(file.header() + ForgedFile::root_of_free_at,
                file.add_leaf(ForgedFile::node_of(16, 0, list) + std::string(2000, 'x'), 900));
       file.put(file.header() + ForgedFile::last_page_at, last);
     }},
    {"more pages than a number can count", many,
     [](ForgedFile& file) { file.put(file.header() + ForgedFile::last_page_at, (std::uint64_t{1} << 52) - 1); }},
    page_size("pages of 0 bytes", 0, false),
    page_size("pages of 8 bytes", 8, false),
    page_size("pages of 13 bytes", 13, false),
    page_size("pages of 256 bytes", 256, false),
    page_size("pages of 5000 bytes", 5000, false),
    page_size("pages of 8192 bytes", 8192, false),
    page_size("pages of 0 bytes in the other half of the header", 0, true),
    page_size("pages of 8192 bytes in the other half of the header", 8192, true),
};

}  // namespace

TEST_CASE("a header that counts too many pages, or pages of another size, is refused whatever the free list says") {
  for (const Forgery& forgery : forgeries) {
    const TempFolder folder;
    const RawLmdb store{folder / "a"};
    store.write(forgery.pairs);
    ForgedFile file(folder / "a/data.mdb");
    forgery.forge(file);
    file.write();
    CAPTURE(forgery.words);
    CHECK(in_child([&] {
      try {
        pairs_of(LmdbSource({.path = store.path, .values = LmdbValues::raw}));
      } catch (const Error& error) {
        return error.code() == Errc::corrupt;
      }
      return false;
    }));
    CHECK(in_child([&] {
      try {
        LmdbSink({.path = store.path, .sync = false}).open({{{"image", DType::u8, {dynamic}}}, 1});
      } catch (const Error&) {
        return true;
      }
      return false;
    }));
  }
}

TEST_CASE("a file that lacks a free page alone is read whoever made it so") {
  for (const Pairs& pairs : {many, one_large}) {
    const TempFolder folder;
    const RawLmdb store{folder / "a"};
    store.write(pairs);
    ForgedFile file(folder / "a/data.mdb");
    file.lose_free_page();
    file.write();
    CHECK(pairs_of(LmdbSource({.path = store.path, .values = LmdbValues::raw})) == pairs);
  }
}
