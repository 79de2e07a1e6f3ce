// SPDX-License-Identifier: Apache-2.0
// Which caches on disk a pipeline takes, and which it refuses.
#include <fstream>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/write.hpp>

#include "sources/lmdb/cache/cache_help.hpp"
#include "sources/lmdb/raw_lmdb.hpp"

using namespace help;
using namespace penstock_test;

namespace {

struct Revised : Records {
  std::uint64_t modified = 1;
  std::uint64_t revision() const { return modified; }
};
struct Add {
  std::uint32_t by = 1;
  std::uint64_t which = 1;
  std::string describe() const { return "by " + std::to_string(by); }
  std::uint64_t version() const { return which; }
  void operator()(ps::View<std::uint32_t, 1> x) const {
    for (std::uint32_t& v : x) v += by;
  }
};
struct Dice {
  bool draws() const { return true; }
  std::uint64_t version() const { return 1; }
  void operator()(ps::View<std::uint32_t, 1> x, ps::Context& context) const {
    for (std::uint32_t& v : x) v += context.rng()();
  }
};

ps::Stage add(Add by = {}, const std::string& name = "add") { return ps::map("x", by, {.name = name}); }
Revised source_of(std::uint64_t count = 40, std::int64_t width = 4, std::uint64_t salt = 0,
                  std::uint64_t modified = 1) {
  Revised source;
  source.count = count;
  source.width = width;
  source.salt = salt;
  source.modified = modified;
  return source;
}
struct OtherName : Revised {
  std::string name() const { return "renamed"; }
};

// A Mix that describes its options.
struct Described : Mix {
  std::string describe() const { return "by three"; }
};

// What differs from: records | add | mix.
struct Change {
  const char* what;
  ps::Pipeline pipeline;
  const char* said;  // empty: the cache is as good
};

std::vector<Change> changes() {
  const ps::Pipeline records = ps::from(source_of());
  return {
      {"nothing", records | add() | Mix{}, ""},
      {"an order", records | ps::shuffle() | add() | ps::take(30) | Mix{}, ""},
      {"a seed", records | ps::seed(7) | add() | Mix{}, ""},
      {"an option", records | add({.by = 2}) | Mix{}, "by 2"},
      {"a version", records | add({.which = 5}) | Mix{}, "version 5"},
      {"a name", records | add({}, "plus") | Mix{}, "plus"},
      {"the order of stages", records | Mix{} | add(), "mix"},
      {"a stage less", records | add(), "mix"},
      {"a stage more", records | add() | Mix{} | add({}, "once_more"), "once_more"},
      {"a stage before", records | add({}, "once_more") | add() | Mix{}, "once_more"},
      {"no stages", records, "add"},
      {"the same twice", records | add() | Mix{} | Mix{}, "mix"},
      {"fields", records | ps::select_fields({"x"}) | add() | Mix{}, "x"},
      {"fewer records", ps::from(source_of(39)) | add() | Mix{}, "39"},
      {"wider records", ps::from(source_of(40, 5)) | add() | Mix{}, "u32[5]"},
      {"identity", ps::from(source_of(40, 4, 1)) | add() | Mix{}, "identity"},
      {"revision", ps::from(source_of(40, 4, 0, 2)) | add() | Mix{}, "revision"},
      {"another version", records | ps::map("x", Add{}, {.name = "add", .version = 3}) | Mix{}, "version 4"},
      {"a check", records | ps::check({.max_sample_bytes = 1000}) | add() | Mix{}, "1000 bytes"},
      {"an option of a map on samples", records | add() | Described{}, "by three"},
      {"draws", records | add() | Mix{} | ps::map("x", Dice{}, {.name = "dice"}), "dice"},
  };
}

ps::Stage kept(const std::string& path, bool replace = false) {
  return ps::cache(path, {.allows = {}, .replace = replace, .sync = false});
}
bool draws(const Change& change) { return std::string(change.what) == "draws"; }

}  // namespace

TEST_CASE("a cache of another pipeline is refused with what differs and stays as it is") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const auto base = [&] { return ps::from(source_of()) | add() | made | kept(folder / "cache"); };
  const std::vector<Got> wanted = epochs_of(ps::from(source_of()) | add() | Mix{} | ps::batch(8), 1);
  CHECK(epochs_of(base() | ps::batch(8), 1) == wanted);
  CHECK(made.calls->total() == 40);
  for (const bool open : {false, true}) {
    std::optional<ps::Pipeline> held;
    if (open) open_cache(*(held = base()));
    for (const Change& change : changes()) {
      CAPTURE(open, change.what);
      const ps::Stage stage =
          draws(change) ? ps::cache(folder / "cache", {.allows = {.random = true}}) : kept(folder / "cache");
      const std::optional<ps::Error> error = help::error_of([&] { open_cache(change.pipeline | stage); });
      CHECK(error.has_value() == (change.said[0] != '\0'));
      if (!error) continue;
      CAPTURE(error->what());
      CHECK(error->code() == ps::Errc::state_mismatch);
      CHECK(contains(error->what(), change.said));
      CHECK(contains(error->what(), "cache"));
    }
    CHECK(epochs_of(base() | ps::batch(8), 1) == wanted);
    CHECK(made.calls->total() == 40);
  }
}

TEST_CASE("a cache of another pipeline is emptied where that is asked for") {
  const Watchdog dog(60s);
  for (const Change& change : changes()) {
    if (change.said[0] == '\0' || draws(change)) continue;
    CAPTURE(change.what);
    const TempFolder folder;
    const Mix made;
    const auto base = [&](bool replace) {
      return ps::from(source_of()) | add() | made | kept(folder / "cache", replace);
    };
    static_cast<void>(epochs_of(base(true) | ps::batch(8), 1));
    made.calls->clear();
    static_cast<void>(epochs_of(base(true) | ps::batch(8), 1));
    CHECK(made.calls->total() == 0);  // of the same pipeline nothing is thrown away
    const std::vector<Got> wanted = epochs_of(change.pipeline | ps::batch(8), 2);
    CHECK(epochs_of(change.pipeline | kept(folder / "cache", true) | ps::batch(8), 2) == wanted);
    CHECK(epochs_of(change.pipeline | kept(folder / "cache") | ps::batch(8), 2) == wanted);
    CHECK(code_of([&] { open_cache(base(false)); }) == ps::Errc::state_mismatch);
  }
}

TEST_CASE("a cache that is in use is not emptied under its users") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const ps::Pipeline base = ps::from(source_of()) | add() | made | kept(folder / "cache") | ps::batch(8);
  const std::vector<Got> wanted = epochs_of(ps::from(source_of()) | add() | Mix{} | ps::batch(8), 1);
  CHECK(epochs_of(base, 1) == wanted);
  const std::optional<ps::Error> error =
      help::error_of([&] { open_cache(ps::from(source_of()) | kept(folder / "cache", true)); });
  REQUIRE(error);
  CAPTURE(error->what());
  CHECK((error->code() == ps::Errc::invalid_argument || error->code() == ps::Errc::state_mismatch));
  CHECK(epochs_of(base, 1) == wanted);
  CHECK(eventually([&] {
    made.calls->clear();
    return epochs_of(base, 1) == wanted && made.calls->total() == 0;
  }));
}

TEST_CASE("draws that a cache keeps are told apart by their seed") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const auto dice = [&](std::uint64_t seed) {
    return ps::from(source_of()) | ps::seed(seed) | ps::map("x", Dice{}, {.name = "dice"}) |
           ps::cache(folder / "cache", {.allows = {.random = true}, .sync = false}) | ps::batch(8);
  };
  const std::vector<Got> first = epochs_of(dice(4), 1);
  CHECK(epochs_of(dice(4), 1) == first);
  const std::optional<ps::Error> error = help::error_of([&] { static_cast<void>(epochs_of(dice(5), 1)); });
  REQUIRE(error);
  CAPTURE(error->what());
  CHECK(error->code() == ps::Errc::state_mismatch);
  CHECK(contains(error->what(), "seed of the draws: there \"4\", here \"5\""));
}

TEST_CASE("folders in which no cache can be made are refused") {
  const TempFolder folder;
  folder.write("file", "text");
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  for (const std::string& path : {folder / "file/cache", folder / "file", std::string("/proc/nothing/cache"),
                                  std::string(), folder / std::string(300, 'n'), folder / "loop/cache"}) {
    CAPTURE(path);
    const std::optional<ps::Error> error = help::error_of([&] { open_cache(ps::from(source_of()) | kept(path)); });
    REQUIRE(error);
    CAPTURE(error->what());
    CHECK((error->code() == ps::Errc::io || error->code() == ps::Errc::not_found ||
           error->code() == ps::Errc::invalid_argument));
    CHECK(contains(error->what(), path));
  }
}

TEST_CASE("a store that is no cache is refused and nothing is done to it") {
  const Watchdog dog(60s);
  const TempFolder folder;
  ps::write(ps::from(source_of()), ps::LmdbSink({.path = folder / "records", .sync = false}));
  RawLmdb{folder / "raw"}.write(numbered(50));
  RawLmdb{folder / "one"}.write({{std::string(8, '\0'), "a value under a number"}});
  folder.write("damaged/data.mdb", std::string(20'000, 'x'));
  folder.write("short/data.mdb", std::string("begin"));
  const Pairs records = RawLmdb{folder / "records"}.read();
  for (const char* store : {"records", "raw", "one", "damaged", "short"})
    for (const bool replace : {false, true}) {
      CAPTURE(store, replace);
      const std::optional<ps::Error> error =
          help::error_of([&] { open_cache(ps::from(source_of()) | kept(folder / store, replace)); });
      REQUIRE(error);
      CAPTURE(error->what());
      CHECK((error->code() == ps::Errc::invalid_argument || error->code() == ps::Errc::corrupt ||
             error->code() == ps::Errc::io));
      CHECK(contains(error->what(), folder / store));
    }
  CHECK(RawLmdb{folder / "records"}.read() == records);
  CHECK(RawLmdb{folder / "raw"}.read() == numbered(50));
  CHECK(RawLmdb{folder / "one"}.read().size() == 1);
  CHECK(std::filesystem::file_size(folder / "damaged/data.mdb") == 20'000);
}

TEST_CASE("a cache that is not complete is no data set yet") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const auto part = [&](std::uint64_t first) {
    return ps::from(source_of()) | kept(folder / "cache") | ps::take(first) | ps::batch(8);
  };
  static_cast<void>(epochs_of(part(25), 1));
  const auto early = help::error_of([&] { ps::LmdbSource({.path = folder / "cache"}); });
  CHECK(early->code() == ps::Errc::invalid_argument);
  CHECK(early->cause().find("the store is a cache that has some") != std::string::npos);
  static_cast<void>(epochs_of(part(40), 1));
  CHECK(ps::LmdbSource({.path = folder / "cache"}).size() == 40);
}

TEST_CASE("a data set is not its own cache") {
  const Watchdog dog(60s);
  const TempFolder folder;
  static_cast<void>(epochs_of(ps::from(source_of()) | kept(folder / "cache") | ps::batch(8), 1));
  CHECK(help::error_of([&] { open_cache(ps::from(ps::Lmdb{.path = folder / "cache"}) | kept(folder / "cache")); }));
  CHECK(
      help::error_of([&] { open_cache(ps::from(ps::Lmdb{.path = folder / "cache"}) | kept(folder / "cache", true)); }));
  CHECK(ps::LmdbSource({.path = folder / "cache"}).size() == 40);
}
