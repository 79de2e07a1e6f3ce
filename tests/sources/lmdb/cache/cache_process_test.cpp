// SPDX-License-Identifier: Apache-2.0
// Caches on disk in several processes, in killed ones, in children made by fork(), and against a model.
#include <sys/resource.h>
#include <unistd.h>
#include <penstock/sources/lmdb.hpp>

#include <csignal>
#include <random>

#include "end_to_end/killed_child.hpp"
#include "sources/lmdb/cache/cache_help.hpp"
#include "support/child.hpp"

using namespace help;
using namespace penstock_test;

namespace {

constexpr std::uint64_t records = 240;

std::string task_folder() { return variable("PENSTOCK_CACHE_FOLDER"); }
Child process(const std::string& test_case, const TempFolder& folder, Variables more = {}) {
  more["PENSTOCK_CACHE_FOLDER"] = folder.path().string();
  return Child(this_program(test_case), more, folder / "output");
}
void ended_well(Child& child) {
  if (child.was_killed()) FAIL("it was killed");
}
void wait_for_file(const std::string& file) {
  REQUIRE(eventually([&] { return std::filesystem::exists(file); }));
}

// Epochs of it until nothing is made in one.
bool makes_nothing_soon(const ps::Pipeline& p, const Mix& made, const std::vector<Got>& wanted) {
  return eventually([&] {
    made.calls->clear();
    return epochs_of(p, 1) == wanted && made.calls->total() == 0;
  });
}

}  // namespace

TEST_CASE("a cache is of use to another process that comes later") {
  const Watchdog dog(60s);
  const Mix made;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(records)), 2);
  if (!task_folder().empty()) {
    const std::vector<Got> first(wanted.begin(), wanted.begin() + 15);
    CHECK(epochs_of(in_batches(cached(task_folder() + "/cache", wide(records), made)), 1) == first);
    CHECK(std::to_string(made.calls->total()) == variable("PENSTOCK_CACHE_CALLS"));
    return;
  }
  const TempFolder folder;
  for (const char* calls : {"240", "0", "0"}) {
    Child child =
        process("a cache is of use to another process that comes later", folder, {{"PENSTOCK_CACHE_CALLS", calls}});
    ended_well(child);
  }
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(records), made)), 2) == wanted);
  CHECK(made.calls->total() == 0);
}

TEST_CASE("a process reads what another one writes to a cache meanwhile") {
  const Watchdog dog(60s);
  const Mix made;
  if (!task_folder().empty()) {
    const ps::Pipeline p = cached(task_folder() + "/cache", wide(records), made);
    static_cast<void>(epochs_of(p | ps::take(100) | ps::batch(16), 1));
    tell("some");
    wait_for_file(task_folder() + "/go on");
    static_cast<void>(epochs_of(p | ps::batch(16), 1));
    tell("all");
    wait_for_file(task_folder() + "/end");
    if (variable("PENSTOCK_CACHE_DIES") == "yes") ::raise(SIGKILL);
    return;
  }
  for (const bool dies : {false, true}) {
    const TempFolder folder;
    Child child = process("a process reads what another one writes to a cache meanwhile", folder,
                          {{"PENSTOCK_CACHE_DIES", dies ? "yes" : "no"}});
    REQUIRE(child.wait_for("some", 1, Clock::now() + 20s));
    const ps::Pipeline begin = cached(folder / "cache", wide(records), made);
    const std::vector<Got> first = epochs_of(not_cached(records) | ps::take(100) | ps::batch(16), 1);
    CHECK(makes_nothing_soon(begin | ps::take(100) | ps::batch(16), made, first));
    const ps::Pipeline p = in_batches(begin);
    const std::vector<Got> wanted = epochs_of(in_batches(not_cached(records)), 1);
    CHECK(epochs_of(p, 1) == wanted);
    CHECK(made.calls->total() == records - 100);
    const std::string notes = notes_of(p);
    CAPTURE(notes);
    CHECK(contains(notes, "another process"));
    // One loader, which sees what comes while it runs.
    ps::Loader loader(begin | ps::batch(16), {.threads = 2});
    const std::vector<Got> in_order = collect(loader, 1);
    folder.write("go on", "");
    REQUIRE(child.wait_for("all", 1, Clock::now() + 20s));
    CHECK(eventually([&] {
      made.calls->clear();
      return collect(loader, 1).size() == in_order.size() && made.calls->total() == 0;
    }));
    CHECK(makes_nothing_soon(p, made, wanted));
    folder.write("end", "");
    CHECK(child.was_killed() == dies);
    made.calls->clear();
    CHECK(epochs_of(p, 1) == wanted);
    CHECK(made.calls->total() == 0);
  }
}

TEST_CASE("a reader in the middle of its work sees what another process has stored") {
  const Watchdog dog(60s);
  const auto stored = [](const ps::Pipeline& p, int records_there) {
    return eventually([&] { return contains(p.plan(), "the cache has " + std::to_string(records_there) + " of 3"); });
  };
  const Mix made;
  if (!task_folder().empty()) {
    const ps::Pipeline p = cached(task_folder() + "/cache", wide(3), made);
    static_cast<void>(epochs_of(p | ps::select({1}) | ps::batch(1), 1, 1));
    if (stored(p, 1)) tell("one");
    wait_for_file(task_folder() + "/go on");
    static_cast<void>(epochs_of(p | ps::select({0}) | ps::batch(1), 1, 1));
    if (stored(p, 2)) tell("two");
    wait_for_file(task_folder() + "/end");
    return;
  }
  const TempFolder folder;
  Child child = process("a reader in the middle of its work sees what another process has stored", folder, {});
  REQUIRE(child.wait_for("one", 1, Clock::now() + 20s));
  // One runner reads record 1 from the cache; while it makes 2, the other process stores 0, which it wants then.
  Records source = wide(3);
  std::atomic<bool> in_time{false};
  source.shared->before_read = [&](std::uint64_t index) {
    if (index != 2) return;
    folder.write("go on", "");
    in_time = child.wait_for("two", 1, Clock::now() + 20s);
  };
  const ps::Pipeline p = cached(folder / "cache", source, made);
  ps::Loader loader(p | ps::select({1, 1, 1, 2, 0}) | ps::batch(1), {.threads = 1, .depth = 8, .epochs = 1});
  CHECK(loader.next());  // the caller may have made this one
  CHECK(eventually([&] { return made.calls->total() != 0; }));
  std::this_thread::sleep_for(300ms);  // and it does the rest alone
  while (loader.next()) {
  }
  CHECK(in_time);
  CHECK(made.calls->of == std::map<std::uint64_t, std::uint64_t>{{2, 1}});
  folder.write("end", "");
  ended_well(child);
}

TEST_CASE("a cache of another pipeline is not emptied while another process has it") {
  const Watchdog dog(60s);
  const Mix made;
  if (!task_folder().empty()) {
    const ps::Pipeline p = in_batches(cached(task_folder() + "/cache", wide(records), made));
    const std::vector<Got> wanted = epochs_of(p, 1);
    CHECK(makes_nothing_soon(p, made, wanted));
    tell("ready");
    wait_for_file(task_folder() + "/go on");
    CHECK(epochs_of(p, 1) == wanted);
    CHECK(made.calls->total() == 0);
    return;
  }
  const TempFolder folder;
  Child child = process("a cache of another pipeline is not emptied while another process has it", folder);
  REQUIRE(child.wait_for("ready", 1, Clock::now() + 20s));
  const auto other = [&] {
    return ps::from(wide(records)) | ps::cache(folder / "cache", {.replace = true, .sync = false}) | ps::batch(16);
  };
  const std::optional<ps::Error> error = help::error_of([&] { static_cast<void>(epochs_of(other(), 1)); });
  REQUIRE(error);
  CAPTURE(error->what());
  CHECK((error->code() == ps::Errc::invalid_argument || error->code() == ps::Errc::state_mismatch));
  folder.write("go on", "");
  ended_well(child);
  CHECK(epochs_of(other(), 1) == epochs_of(ps::from(wide(records)) | ps::batch(16), 1));
}

TEST_CASE("many processes at once fill and read one cache") {
  const Watchdog dog(60s);
  const Mix made;
  if (!task_folder().empty()) {
    wait_for_file(task_folder() + "/go on");
    const std::uint64_t seed = std::stoull(variable("PENSTOCK_CACHE_SEED"));
    const ps::Pipeline p = in_batches(cached(task_folder() + "/cache", wide(records), made), seed);
    CHECK(epochs_of(p, 3, 2) == epochs_of(in_batches(not_cached(records), seed), 3, 2));
    return;
  }
  const TempFolder folder;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(std::make_unique<Child>(
        this_program("many processes at once fill and read one cache"),
        Variables{{"PENSTOCK_CACHE_FOLDER", folder.path().string()}, {"PENSTOCK_CACHE_SEED", std::to_string(i)}},
        folder / ("output" + std::to_string(i))));
  std::this_thread::sleep_for(50ms);
  folder.write("go on", "");
  for (const auto& child : children) ended_well(*child);
  const ps::Pipeline p = in_batches(cached(folder / "cache", wide(records), made));
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(records)), 1);
  CHECK(epochs_of(p, 1) == wanted);
  CHECK(makes_nothing_soon(p, made, wanted));
}

TEST_CASE("a writer of a cache that is killed at any moment leaves what is right") {
  const Watchdog dog(120s);
  const Mix made;
  if (!task_folder().empty()) {
    tell("begun");
    const bool sync = variable("PENSTOCK_CACHE_SYNC") == "yes";
    const ps::Pipeline p =
        in_batches(cached(task_folder() + "/cache", wide(records), made, {.max_queue_bytes = 20'000, .sync = sync}));
    do {
      made.calls->clear();
      static_cast<void>(epochs_of(p, 1));
    } while (made.calls->total() != 0);
    tell("finished");
    return;
  }
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(records)), 1);
  std::mt19937_64 random(23);
  int killed = 0;
  for (int run = 0; killed < 20; ++run) {
    const TempFolder folder;
    std::uint64_t there = 0;
    for (bool finished = false; !finished;) {
      Child child = process("a writer of a cache that is killed at any moment leaves what is right", folder,
                            {{"PENSTOCK_CACHE_SYNC", run % 2 == 0 ? "yes" : "no"}});
      if (killed < 20) {
        child.wait_for("begun", 1, Clock::now() + 20s);
        child.wait_until(Clock::now() + std::chrono::microseconds(random() % 12'000));
        child.kill();
      }
      finished = !child.was_killed();
      killed += finished ? 0 : 1;
      if (!std::filesystem::exists(folder / "cache/data.mdb")) continue;
      // A copy, which may be filled.
      std::filesystem::remove_all(folder / "copy");
      std::filesystem::create_directory(folder / "copy");
      std::filesystem::copy_file(folder / "cache/data.mdb", folder / "copy/data.mdb");
      made.calls->clear();
      REQUIRE(epochs_of(in_batches(cached(folder / "copy", wide(records), made)), 1) == wanted);
      REQUIRE(made.calls->most() <= 1);
      REQUIRE(records - made.calls->total() >= there);
      there = records - made.calls->total();
      made.calls->clear();
      REQUIRE(epochs_of(in_batches(cached(folder / "copy", wide(records), made)), 1) == wanted);
      REQUIRE(made.calls->total() == 0);
    }
    CHECK(there == records);
  }
}

TEST_CASE("a disk that is full at any moment ends the writing and nothing else") {
  const Watchdog dog(120s);
  const Mix made;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(records)), 2);
  if (!task_folder().empty()) {
    // What a full disk does, to this process alone: no file becomes longer.
    const rlim_t most = std::stoull(variable("PENSTOCK_CACHE_MOST"));
    const rlimit limit{most, most};
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    std::string notes;
    const std::optional<ps::Error> error = help::error_of([&] {
      const ps::Pipeline p =
          in_batches(cached(task_folder() + "/cache", wide(records), made, {.max_queue_bytes = 40'000, .sync = false}));
      const std::vector<Got> got = epochs_of(p, 2);
      CHECK(got == wanted);
      eventually([&] {  // what had to wait is offered again
        static_cast<void>(epochs_of(p, 1));
        notes = notes_of(p);
        return contains(notes, "failed") || contains(notes, "240 of");
      });
    });
    if (error) {  // not even made
      CAPTURE(error->what());
      CHECK(error->code() == ps::Errc::io);
    }
    tell(error ? "refused" : contains(notes, "failed") ? "failed" : contains(notes, "240 of") ? "complete" : "well");
    return;
  }
  std::map<std::string, unsigned> ends;
  // Where it ends when nothing is left but to say that it is complete, differs a little from run to run.
  for (std::uint64_t pages = 1; pages < 116; pages += pages < 94 ? 9 : 1) {
    CAPTURE(pages);
    const TempFolder folder;
    Child child = process("a disk that is full at any moment ends the writing and nothing else", folder,
                          {{"PENSTOCK_CACHE_MOST", std::to_string(pages * 4096)}});
    ended_well(child);
    REQUIRE(child.lines().size() == 1);
    ++ends[child.lines()[0]];
    if (child.lines()[0] == "refused") std::filesystem::remove_all(folder / "cache");
    made.calls->clear();
    CHECK(epochs_of(in_batches(cached(folder / "cache", wide(records), made)), 2) == wanted);
    made.calls->clear();
    CHECK(epochs_of(in_batches(cached(folder / "cache", wide(records), made)), 2) == wanted);
    CHECK(made.calls->total() == 0);
  }
  std::string all;
  for (const auto& [end, times] : ends) all += end + " " + std::to_string(times) + " ";
  CAPTURE(all);
  CHECK(ends["refused"] != 0);
  CHECK(ends["failed"] != 0);
  CHECK(ends["complete"] != 0);
}

TEST_CASE("a child made by fork opens its parent's cache anew") {
  const Watchdog dog(60s);
  const TempFolder folder;
  const Mix made;
  const std::vector<Got> wanted = epochs_of(in_batches(not_cached(records)), 1);
  std::optional<ps::Pipeline> begin = cached(folder / "cache", wide(records), made);
  static_cast<void>(epochs_of(*begin | ps::take(100) | ps::batch(16), 1));
  const auto as_expected = [&](const ps::OwnedSample& sample, std::uint64_t index = 7) {
    const ps::OwnedSample expected = not_cached(records).at(index);
    return std::memcmp(sample["x"].data, expected["x"].data, expected["x"].bytes()) == 0;
  };
  CHECK(in_child([&] {
    ::alarm(20);
    const ps::Pipeline own = cached(folder / "cache", wide(records), made);
    return as_expected(own.at(7));
  }));
  CHECK(in_child([&] {  // what it inherited is refused or right, and goes without ado
    ::alarm(20);
    const std::optional<ps::Error> error = help::error_of([&] {
      if (!as_expected(begin->at(7))) ::_exit(3);
    });
    if (error && error->code() != ps::Errc::forked) return false;
    begin.reset();
    return true;
  }));
  CHECK(in_child([&] {  // also in the other order
    ::alarm(20);
    begin.reset();
    const ps::Pipeline own = cached(folder / "cache", wide(records), made);
    return as_expected(own.at(7)) && as_expected(own.at(200), 200);
  }));
  // Nothing of the parent's has gone.
  CHECK(epochs_of(in_batches(*begin), 1) == wanted);
  begin.reset();
  made.calls->clear();
  CHECK(epochs_of(in_batches(cached(folder / "cache", wide(records), made)), 1) == wanted);
  CHECK(made.calls->total() == 0);
  CHECK(in_child([&] {  // the parent has closed it
    ::alarm(20);
    made.calls->clear();
    const ps::Pipeline own = cached(folder / "cache", wide(records), made);
    return as_expected(own.at(7)) && made.calls->total() == 0;
  }));
}

TEST_CASE("random pipelines with a cache on disk bring what they bring without") {
  const Watchdog dog(180s);
  for (std::uint64_t trial = 0; trial < scaled(40, 6); ++trial) {
    CAPTURE(trial);
    std::mt19937_64 random(trial * 7919 + 5);
    const auto dice = [&](std::uint64_t below) { return random() % below; };
    const std::uint64_t count = 1 + dice(120);
    // Stages of fixed seeds, so that each building is the same.
    const std::uint64_t stages = dice(4), kinds = random();
    const auto prefix = [&](const std::shared_ptr<Calls>& calls) {
      const bool every = kinds % 2 == 0;
      ps::Pipeline p = every ? ps::from(EveryKind{.count = count}) : ps::from(Records{.count = count, .width = 60});
      if (kinds % 5 == 1) p = p | ps::shuffle({.seed = 11});
      for (std::uint64_t s = 0; s < stages; ++s) {
        if (every)
          p = p | Make{.calls = calls, .by = static_cast<std::int64_t>(kinds >> s & 15), .which = s};
        else
          p = p | Mix{calls, "mix" + std::to_string(s)};
      }
      return p;
    };
    const std::uint64_t batch = 1 + dice(20), order = dice(4), reordered = dice(3);
    const auto after = [&](ps::Pipeline p) {
      if (order == 1) p = p | ps::shuffle({.seed = 11});
      if (order == 2) p = p | ps::take(1 + count / 2);
      if (order == 3) p = p | ps::repeat(2);
      if (reordered == 1) p = p | even();
      if (reordered == 2) p = p | Parts{};
      return p | ps::batch(batch);
    };
    const std::shared_ptr<Calls> counted = std::make_shared<Calls>();
    const std::vector<Got> wanted = epochs_of(after(prefix(std::make_shared<Calls>())), 3);
    const TempFolder folder;
    const auto options = [&] {
      return ps::LmdbCacheOptions{.verify_checksum = dice(2) == 0,
                                  .max_bytes = dice(5) == 0 ? (100u + dice(200)) << 10 : 0,
                                  .max_queue_bytes = dice(2) == 0 ? 1 + dice(20'000) : 1u << 20,
                                  .sync = dice(4) == 0};
    };
    for (std::uint64_t opening = 0; opening < 4; ++opening) {
      const ps::Pipeline p = after(prefix(counted) | ps::cache(folder / "cache", options()));
      for (std::uint64_t run = 0; run <= dice(2); ++run) {
        ps::Loader loader(p, {.threads = 1 + static_cast<unsigned>(dice(4)), .epochs = 3});
        const std::uint64_t leave = dice(2) == 0 ? wanted.size() : dice(wanted.size() + 1);
        std::size_t at = 0;
        for (int e = 0; e < 3 && at < leave; ++e)
          for (const ps::Batch& b : loader.epoch()) {
            if (at == leave) break;
            REQUIRE(copy(b) == wanted[at]);
            ++at;
          }
      }
    }
    const ps::Pipeline p = prefix(counted) | ps::cache(folder / "cache", {.sync = false});
    REQUIRE(epochs_of(after(p), 3) == wanted);
    counted->clear();
    if (order != 2 && epochs_of(after(prefix(counted) | ps::cache(folder / "cache", {.sync = false})), 3) != wanted)
      FAIL("other batches");
  }
}
