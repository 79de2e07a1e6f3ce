// SPDX-License-Identifier: Apache-2.0
// Caches on disk: what a run kept, later ones don't make again, whatever became of it.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "core/blocks/chunks.hpp"
#include "core/delivery/device_help.hpp"
#include "core/write/write_help.hpp"
#include "sources/lmdb/cache/cache_help.hpp"
#include "support/text_in.hpp"

using namespace help;
using penstock_test::TempFolder;
using penstock_test::text_in;

namespace {

// Offsets in a page of LMDB 0.9: after its number its flags, where its nodes' offsets end, and these; in a node the
// key's size and the key after 6 bytes.
bool is_leaf_with(std::string_view page, std::string_view key) {
  const auto number = [page](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(page.at(at)) |
                                    static_cast<unsigned char>(page.at(at + 1)) << 8);
  };
  if (number(10) != 2 || number(12) > page.size()) return false;
  for (std::size_t at = 16; at + 2 <= number(12); at += 2) {
    const std::size_t node = number(at);
    if (node + 8 <= page.size() && number(node + 6) == key.size() && page.substr(node + 8, key.size()) == key)
      return true;
  }
  return false;
}

// While it lives, this process works in another folder.
class Inside {
 public:
  explicit Inside(const std::filesystem::path& folder) { std::filesystem::current_path(folder); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace

TEST_CASE("a second run over a cache on disk makes nothing") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const auto after = [](const ps::Pipeline& p, int way) {
    const ps::Pipeline all = p | ps::shuffle();
    return (way == 0 ? all : way == 1 ? all | even() : all | Parts{}) | ps::batch(7);
  };
  const EveryKind source;
  const Make made;
  for (int run = 0; run < 3; ++run)
    for (int way = 0; way < 3; ++way) {
      CAPTURE(run, way);
      const ps::Pipeline bare = after(ps::from(EveryKind{}) | Make{}, way);
      const ps::Pipeline p = after(ps::from(source) | made | ps::cache(folder / "cache", {.sync = run % 2 == 0}), way);
      CHECK(p.fingerprint() == bare.fingerprint());
      // A second epoch may be quicker than the first commit.
      const std::uint64_t epochs = run == 0 ? 1 : 2;
      CHECK(epochs_of(p, epochs, 1 + static_cast<unsigned>(run)) == epochs_of(bare, epochs));
      CHECK(source.reads->most() == 1);
      CHECK(made.calls->total() == 60);
    }
}

TEST_CASE("a complete cache is a store of records under their index") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const ps::Pipeline bare = ps::from(EveryKind{.count = 300}) | Make{};
  static_cast<void>(epochs_of(
      ps::from(EveryKind{.count = 300}) | Make{} | ps::cache(folder / "cache") | ps::shuffle() | ps::batch(8), 1));
  const ps::LmdbSource store({.path = folder / "cache"});
  REQUIRE(store.size() == 300);
  CHECK(store.schema().to_string() == bare.schema().to_string());
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string key = store.key(i);
    REQUIRE(key.size() == 8);
    std::uint64_t number = 0;
    for (const char c : key) number = number << 8 | static_cast<unsigned char>(c);
    CHECK(number == i);
    const ps::OwnedSample expected = bare.at(i), got = ps::read_sample(store, i);
    for (const ps::Field& field : bare.schema()) {
      REQUIRE(got[field.name].shape == expected[field.name].shape);
      REQUIRE(std::memcmp(got[field.name].data, expected[field.name].data, expected[field.name].bytes()) == 0);
    }
  }
  CHECK(epochs_of(ps::from(store) | ps::batch(8), 1) == epochs_of(bare | ps::batch(8), 1));
}

TEST_CASE("pipelines of one process share a cache on disk whatever they call it") {
  const Watchdog dog(60s);
  const TempFolder folder;
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory_symlink(folder / "a", folder / "other");
  const Mix first, second;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(200)), 2);
  const ps::Pipeline one = in_batches(cached(folder / "a/cache", wide(200), first));
  CHECK(epochs_of(one, 1) == std::vector<Got>(wanted.begin(), wanted.begin() + 13));
  const ps::Pipeline two = in_batches(cached(folder / "other/../a/./cache", wide(200), second, {.max_queue_bytes = 1}));
  const ps::Pipeline three = in_batches(cached(folder / "other/cache", wide(200), second));
  // What the first hands over is there for all of them once it is written.
  CHECK(eventually([&] {
    second.calls->clear();
    return epochs_of(two, 2) == wanted && second.calls->total() == 0;
  }));
  CHECK(epochs_of(three, 2) == wanted);
  CHECK(second.calls->total() == 0);
}

TEST_CASE("a cache on disk is shared by its relative path from its first opening on") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Inside inside(folder.path());
  const Mix first, second;
  const ps::Pipeline one = cached("cache", wide(20), first);
  const ps::Pipeline two = cached("cache", wide(20), second);
  CHECK(epochs_of(in_batches(two), 1) == epochs_of(in_batches(not_cached(20)), 1));
}

TEST_CASE("a cache on disk is opened while its last user lets go of it") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const std::string path = folder / "cache";
  std::atomic<int> refused{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < scaled(200, 50); ++i) try {
          open_cache(ps::from(wide(20)) | Mix{} | ps::cache(path, {.sync = false}));
        } catch (const ps::Error&) {
          ++refused;
        }
    });
  threads.clear();
  CHECK(refused == 0);
}

TEST_CASE("loaders at once fill one cache on disk") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  std::vector<std::thread> threads;
  std::atomic<unsigned> right{0};
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      // Each opens it for itself, at the same time.
      const ps::Pipeline p = in_batches(cached(folder / "cache", wide(300), made), t);
      if (epochs_of(p, 3, 2) == epochs_of(in_batches(not_cached(300), t), 3, 2)) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4);
  made.calls->clear();
  static_cast<void>(epochs_of(in_batches(cached(folder / "cache", wide(300), made)), 1));
  CHECK(made.calls->total() == 0);
}

TEST_CASE("a reader in the middle of its work sees what was stored since it began") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  Records source = wide(3);
  const ps::Pipeline p = cached(folder / "cache", source, made);
  const auto stored = [&](int records) {
    return eventually([&] { return contains(p.plan(), "the cache has " + std::to_string(records) + " of 3"); });
  };
  static_cast<void>(epochs_of(p | ps::select({1}) | ps::batch(1), 1, 1));
  CHECK(stored(1));
  // One runner reads record 1 from the cache; while it makes 2, 0 is stored, by another thread; then it wants that
  // again.
  std::atomic<bool> in_time{false};
  source.shared->before_read = [&](std::uint64_t index) {
    if (index == 2) in_time = stored(2);
  };
  made.calls->clear();
  ps::Loader loader(p | ps::select({1, 1, 1, 0, 2, 0}) | ps::batch(1), {.threads = 1, .depth = 8, .epochs = 1});
  CHECK(loader.next());  // the caller may have made this one
  CHECK(eventually([&] { return made.calls->total() == 2; }));
  std::this_thread::sleep_for(300ms);  // and it does the rest alone
  while (loader.next()) {
  }
  CHECK(in_time);
  CHECK(made.calls->of == std::map<std::uint64_t, std::uint64_t>{{0, 1}, {2, 1}});
}

TEST_CASE("blocks and advice of what is in a cache on disk are not asked for") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Chunks chunks{.count = 203, .per_block = 8, .rows = true};
  AdvisedRecords advised;
  advised.count = 100;
  for (int run = 0; run < 2; ++run) {
    chunks.shared->loads.clear();
    advised.shared->advised = 0;
    ps::Loader loader(ps::from(chunks) |
                          ps::cache(folder / "chunks", {.allows = {.unversioned = true}, .sync = false}) |
                          ps::shuffle({.blocks = true}) | ps::batch(10),
                      {.threads = 2, .max_block_bytes = 3 * 8 * 32, .epochs = 1});
    for (const ps::Batch& b : loader.epoch()) check_values(chunks, b);
    CHECK((chunks.decodes() == 0) == (run == 1));
    static_cast<void>(epochs_of(
        ps::from(advised) | ps::cache(folder / "advised", {.sync = false}) | ps::shuffle() | ps::batch(8), 1));
    CHECK(advised.shared->advised == (run == 0 ? 100 : 0));
  }
}

TEST_CASE("batches on a device and samples in a store come from a cache on disk") {
  const Watchdog dog(60s);
  const TempFolder folder;
  ps::EmulatedGpu gpu({.mode = Mode::late, .checked = true});
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(100)), 2);
  Disk stored;
  write_to(stored, not_cached(100));
  const Mix made;
  for (int run = 0; run < 3; ++run) {
    made.calls->clear();
    const ps::Pipeline begin = cached(folder / "cache", wide(100), made);
    ps::Loader loader(in_batches(begin), {.device = gpu.device(), .threads = 2, .epochs = 2});
    CHECK(train(loader, gpu, 2) == wanted);
    Disk disk;
    write_to(disk, begin);
    CHECK(disk.kept == stored.kept);
    CHECK((made.calls->total() == 0) == (run != 0));
  }
  CHECK(gpu.findings().empty());
}

TEST_CASE("what an epoch that was left had made is in the cache") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(200)), 1);
  for (std::size_t turn = 1; turn < 6; ++turn) {
    const ps::Pipeline p = in_batches(cached(folder / "cache", wide(200), made));
    ps::Loader loader(p, {.threads = 3, .epochs = 1});
    std::size_t at = 0;
    for (const ps::Batch& b : loader.epoch()) {
      CHECK(copy(b) == wanted[at]);
      if (++at == 2 * turn) break;
    }
  }
  CHECK(made.calls->most() == 1);
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(200), made)), 1) == wanted);
  CHECK(made.calls->total() == 200);
}

TEST_CASE("records of a cache that are damaged are made again and counted") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(150)), 2);
  static_cast<void>(epochs_of(in_batches(cached(folder / "cache", wide(150), made)), 1));
  std::string file = text_in(folder / "cache/data.mdb");
  std::uint64_t damaged = 0;
  for (std::uint64_t i = 3; i < 150; i += 15, ++damaged) {
    // Somewhere in the value, which is found by its bytes.
    std::vector<std::uint32_t> x;
    for (std::uint64_t j = 0; j < 120; ++j) x.push_back(static_cast<std::uint32_t>(mix(x_of(i, j))));
    const std::string value(reinterpret_cast<const char*>(x.data()), x.size() * 4);
    const std::size_t at = file.find(value);
    REQUIRE(at != std::string::npos);
    file[at + i * 37 % value.size()] ^= static_cast<char>(1u << i % 8);
  }
  std::ofstream(folder / "damaged", std::ios::binary) << file;
  for (const unsigned threads : {1u, 3u}) {
    std::filesystem::copy_file(folder / "damaged", folder / "cache/data.mdb",
                               std::filesystem::copy_options::overwrite_existing);
    made.calls->clear();
    {
      const ps::Pipeline p = in_batches(cached(folder / "cache", wide(150), made));
      ps::Loader loader(p, {.threads = threads, .epochs = 1});
      CHECK(collect(loader, 1) == std::vector<Got>(wanted.begin(), wanted.begin() + 10));
      for (const auto& [index, times] : made.calls->of) CHECK(index % 15 == 3);
      CHECK(made.calls->of.size() == damaged);
      const std::string notes = joined(loader.report().notes);
      CAPTURE(notes);
      CHECK(contains(notes, "damaged " + std::to_string(damaged) + " times"));
      CHECK(eventually([&] {
        return contains(joined(loader.report().notes), "of those " + std::to_string(damaged) + " were replaced");
      }));
    }
    made.calls->clear();
    CHECK(epochs_of(in_batches(cached(folder / "cache", wide(150), made)), 2) == wanted);
    CHECK(made.calls->total() == 0);
  }
  std::filesystem::copy_file(folder / "damaged", folder / "cache/data.mdb",
                             std::filesystem::copy_options::overwrite_existing);
  // Whoever does not look gets them as they are.
  made.calls->clear();
  static_cast<void>(
      epochs_of(in_batches(cached(folder / "cache", wide(150), made, {.verify_checksum = false, .sync = false})), 1));
  CHECK(made.calls->total() == 0);
}

TEST_CASE("records that a damaged page of the tree hides are made again") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(150)), 2);
  static_cast<void>(epochs_of(in_batches(cached(folder / "cache", wide(150), made)), 1));
  std::string file = text_in(folder / "cache/data.mdb");
  // Each page of leaves that has the record in the middle: the one in use, and what is left of those before it.
  constexpr std::size_t page = 4096, flags = 10;
  const std::string middle("\0\0\0\0\0\0\0\x4b", 8);
  std::size_t damaged = 0;
  for (std::size_t at = 2 * page; at < file.size(); at += page) {
    if (!is_leaf_with(std::string_view(file).substr(at, page), middle)) continue;
    file[at + flags] = 0;
    ++damaged;
  }
  REQUIRE(damaged != 0);
  std::ofstream(folder / "cache/data.mdb", std::ios::binary | std::ios::trunc) << file;
  made.calls->clear();
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(150), made)), 2) == wanted);
  CHECK(made.calls->total() != 0);
  CHECK(made.calls->of.size() < 150);
}

TEST_CASE("a cache with a short queue declines records and is complete after some epochs") {
  const Watchdog dog(60s);
  for (const std::size_t queue : {std::size_t{2000}, std::size_t{1}}) {
    CAPTURE(queue);
    const TempFolder folder;
    const Mix made;
    const std::vector<Got> wanted = epochs_of(in_batches(not_cached(200)), 1);
    const ps::Pipeline p =
        in_batches(cached(folder / "cache", wide(200), made, {.max_queue_bytes = queue, .sync = false}));
    bool declined = false, complete = false;
    for (int epoch = 0; epoch < 2000 && !complete; ++epoch) {
      made.calls->clear();
      ps::Loader loader(p, {.threads = 3, .epochs = 1});
      REQUIRE(collect(loader, 1) == wanted);
      complete = made.calls->total() == 0;
      declined = declined || contains(joined(loader.report().notes), "not kept");
    }
    CHECK(complete);
    CHECK(declined);
  }
}

TEST_CASE("a cache with no room left says so and the epochs go on") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(600)), 2);
  Mix made;
  const ps::LmdbCacheOptions small{.max_bytes = 160 << 10, .sync = false};
  std::uint64_t there = 0;
  for (int run = 0; run < 4; ++run) {
    made.calls->clear();
    const ps::Pipeline p = in_batches(cached(folder / "cache", wide(600), made, small));
    ps::Loader loader(p, {.threads = 3, .epochs = 2});
    CHECK(collect(loader, 2) == wanted);
    const std::string notes = joined(loader.report().notes);
    CAPTURE(notes, run);
    if (run == 0) {
      CHECK(eventually([&] { return contains(joined(loader.report().notes), "full"); }));
      CHECK(!contains(joined(loader.report().notes), "offered again"));
    }
    const std::uint64_t missing = made.calls->of.size();
    CHECK(missing > 200);
    if (run != 0) {
      CHECK(missing <= 600 - there);
      CHECK(missing < 600);
    }
    there = 600 - missing;
  }
  CHECK(std::filesystem::file_size(folder / "cache/data.mdb") <= 160u << 10);
  // With more room it goes on where it was.
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(600), made)), 2) == wanted);
  made.calls->clear();
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(600), made)), 2) == wanted);
  CHECK(made.calls->total() == 0);
  // A complete one that is opened with less room than it takes is as good.
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(600), made, small)), 2) == wanted);
  CHECK(made.calls->total() == 0);
}

TEST_CASE("a cache whose writing thread can't be started says so and the epochs go on") {
  const Watchdog dog(60s);
  constexpr const char* variable = "PENSTOCK_CACHE_OF_ANOTHER";
  if (!inner()) {
    const TempFolder folder;
    const std::filesystem::path cache = folder / "cache";
    std::filesystem::permissions(cache.parent_path(), std::filesystem::perms::all);
    ::setenv(variable, cache.c_str(), 1);
    const int status = run_inner("a cache whose writing thread can't be started says so and the epochs go on");
    ::unsetenv(variable);
    if (status == 4) PENSTOCK_SKIP("the number of a user's threads can't be limited here");
    CHECK(status == 0);
    return;
  }
  const ps::LoaderOptions options{.threads = 1, .executor = ps::Executor(1)};
  const std::vector<Got> wanted = collect(in_batches(not_cached(60)), options, 2);
  REQUIRE(eventually([] { return thread_count() == 3; }));  // this one, the watchdog, and oneTBB's
  // A user who has no other threads, and may have no more.
  const rlimit no_more{3, 3};
  const bool limited = (::getuid() != 0 || ::setuid(65534) == 0) && ::setrlimit(RLIMIT_NPROC, &no_more) == 0;
  try {
    std::thread([] {}).join();
    PENSTOCK_SKIP("the number of this user's threads can't be limited here");
  } catch (const std::system_error&) {
    REQUIRE(limited);
  }
  const Mix made;
  const ps::Pipeline p = in_batches(cached(std::getenv(variable), wide(60), made));
  ps::Loader loader(p, options);
  CHECK(collect(loader, 2) == wanted);
  CHECK(made.calls->total() >= 120);  // what is made ahead of the caller as well
  CHECK(contains(joined(loader.report().notes), "thread that writes it could not be started"));
}

TEST_CASE("a pipeline that nothing ran leaves an empty cache that later ones fill") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const ps::Pipeline unused = cached(folder / "deep/down/cache", wide(50), made);
  static_cast<void>(unused.plan());
  CHECK_FALSE(std::filesystem::exists(folder / "deep"));  // a pipeline opens nothing, a loader does
  open_cache(cached(folder / "deep/down/cache", wide(50), made));
  CHECK(std::filesystem::is_directory(folder / "deep/down/cache"));
  const ps::Pipeline p = in_batches(cached(folder / "deep/down/cache", wide(50), made));
  const ps::OwnedSample one = (p).at(7);
  CHECK(one["x"].shape == ps::Shape{120});
  CHECK(epochs_of(p, 2) == epochs_of(in_batches(not_cached(50)), 2));
}

TEST_CASE("many openings of a cache leave no thread and no descriptor behind") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const auto turn = [&](std::uint64_t i) {
    const ps::Pipeline p = in_batches(cached(folder / "cache", wide(100), made), i);
    ps::Loader loader(p, {.threads = 2, .epochs = 2});
    for (const ps::Batch& b : loader.epoch())
      if (b.number() == i % 7) break;
  };
  for (std::uint64_t i = 0; i < 5; ++i) turn(i);
  const unsigned files = fd_count();
  unsigned threads = thread_count();
  for (std::uint64_t i = 0; i < scaled(40, 5); ++i) turn(i);
  CHECK(fd_count() == files);
  CHECK(eventually([&] { return thread_count() <= threads; }));
}
