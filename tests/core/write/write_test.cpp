// SPDX-License-Identifier: Apache-2.0
// write(): every sample once, in order, whatever happens around it.
#include "support/catch.hpp"

#include <set>

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

struct Stored {
  std::uint64_t position, index;
  std::string key;
  std::uint32_t x0;
  friend bool operator==(const Stored&, const Stored&) = default;
};

struct Sink {
  std::vector<Stored> stored;
  std::set<std::uint64_t> there;  ///< positions from an earlier run
  std::uint64_t committed = 0, commits = 0, opened = 0, finished = 0;
  std::optional<std::uint64_t> fail_at;
  std::thread::id thread = std::this_thread::get_id();

  void open(const ps::SinkJob& job) {
    ++opened;
    CHECK(job.schema.to_string() == "{x: u32[4], y: i64[]}");
    CHECK(job.size == 100);
  }
  bool has(const ps::SinkItem& item) { return there.contains(item.position); }
  void put(const ps::SinkItem& item, ps::Sample& sample) {
    if (std::this_thread::get_id() != thread) std::abort();
    if (fail_at == item.position) throw ps::Error(ps::Errc::io, "the disk is full").with_file("/store");
    stored.push_back({item.position, item.index, item.key, sample.view<const std::uint32_t, 1>("x")(0)});
    if (sample.scalar<std::int64_t>("y") != static_cast<std::int64_t>(item.index)) std::abort();
  }
  void commit() {
    ++commits;
    committed = stored.size();
  }
  void finish() { ++finished; }
  std::string name() const { return "test_sink"; }
};

ps::Pipeline pipeline(Records source = {.count = 100}) {
  return ps::from(std::move(source)) | ps::shuffle() | AddDraw{};
}

std::vector<Stored> expected() {
  std::vector<Stored> out;
  const ps::Pipeline p = pipeline();
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::uint64_t index = 0;
    p.fill(0, i, {&index, 1});
    out.push_back({i, index, "key-" + std::to_string(index), p.at(i)["x"].as<std::uint32_t, 1>()(0)});
  }
  return out;
}

// Takes everything, and keeps nothing.
struct Nowhere {
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem&, ps::Sample&) {}
  void commit() {}
  void finish() {}
  std::string name() const { return "nowhere"; }
};

}  // namespace

TEST_CASE("write puts every sample once, in order, on the caller's thread") {
  const Watchdog dog(60s);
  Records slow{.count = 100};
  slow.shared->before_read = [](std::uint64_t i) {
    std::this_thread::sleep_for(std::chrono::microseconds(mix(i) % 500));
  };
  for (const unsigned threads : {1u, 2u, 5u}) {
    for (const std::size_t window : {0u, 1u, 3u}) {
      Sink sink;
      std::uint64_t last = 0;
      const ps::WriteProgress done = ps::write(pipeline(slow), sink,
                                               {.threads = threads,
                                                .max_in_flight = window,
                                                .commit_every = 30,
                                                .progress = [&](const ps::WriteProgress& p) {
                                                  CHECK(p.done >= last);
                                                  CHECK(p.total == 100);
                                                  last = p.done;
                                                }});
      CHECK(sink.stored == expected());
      CHECK(sink.opened == 1);
      CHECK(sink.finished == 1);
      CHECK(sink.commits == 4);
      CHECK(sink.committed == 100);
      CHECK(done.done == 100);
      CHECK(done.skipped == 0);
      CHECK(done.bytes == 100 * 24);
      CHECK(last == 100);
    }
  }
}

TEST_CASE("write skips what is there and does not read it") {
  Records source{.count = 100};
  Sink sink;
  for (std::uint64_t i = 0; i < 100; i += 3) sink.there.insert(i);
  const ps::WriteProgress done = ps::write(pipeline(source), sink, {.threads = 2});
  CHECK(done.skipped == 34);
  CHECK(done.done == 100);
  CHECK(source.shared->reads == 66);
  auto rest = expected();
  std::erase_if(rest, [](const Stored& s) { return s.position % 3 == 0; });
  CHECK(sink.stored == rest);
}

TEST_CASE("the first failure in order ends a write, what came before it is committed") {
  const Watchdog dog(60s);
  const auto all = expected();
  Records source{.count = 100};
  source.shared->faults[all[40].index] = Fault::corrupt;
  source.shared->faults[all[41].index] = Fault::io;
  source.shared->before_read = [first = all[40].index](std::uint64_t i) {
    if (i == first) std::this_thread::sleep_for(10ms);
  };
  for (const unsigned threads : {1u, 4u}) {
    Sink sink;
    const auto error = error_of([&] { ps::write(pipeline(source), sink, {.threads = threads}); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::corrupt);
    CHECK(*error->index() == all[40].index);
    CHECK(sink.committed == 40);
    CHECK(sink.finished == 0);
  }
}

TEST_CASE("a write tells of every sample that it drops, in order") {
  const Watchdog dog(60s);
  Records source{.count = 3000};
  std::vector<std::string> expected;
  for (std::uint64_t i = 0; i < 3000; ++i)
    if (i % 4 != 0) source.shared->faults[i] = Fault::corrupt;
  const ps::Pipeline p = ps::from(source) | ps::shuffle() | ps::on_error({.policy = ps::OnError::drop, .max_share = 1});
  for (std::uint64_t position = 0; position < 3000; ++position) {
    std::uint64_t index = 0;
    p.fill(0, position, {&index, 1});
    if (index % 4 != 0) expected.push_back("key-" + std::to_string(index));
  }
  struct AnySink {
    void open(const ps::SinkJob& job) { CHECK(job.size == ps::unknown_size); }
    bool has(const ps::SinkItem&) { return false; }
    void put(const ps::SinkItem&, ps::Sample&) {}
    void commit() {}
    void finish() {}
    std::string name() const { return "any"; }
  };
  std::vector<std::string> told;
  AnySink sink;
  const ps::WriteProgress done =
      ps::write(p, sink, {.threads = 3, .on_drop = [&](const ps::Error& error) { told.push_back(error.key()); }});
  CHECK(told == expected);
  CHECK(done.dropped == 2250);
}

TEST_CASE("a record that can't even say its key is a bad sample") {
  struct Unnamed : Records {
    std::string key(std::uint64_t i) const {
      if (i % 10 == 3) throw ps::Error(ps::Errc::corrupt, "its name is cut off");
      return Records::key(i);
    }
  };
  const auto of = [](ps::OnError policy) {
    return ps::from(Unnamed{{.count = 100}}) | ps::shuffle() | ps::on_error({.policy = policy, .max_share = 0.2});
  };
  for (const unsigned threads : {1u, 3u})
    for (const std::size_t window : {0u, 1u, 3u}) {
      CAPTURE(threads, window);
      CountingSink sink;
      const ps::WriteProgress progress =
          ps::write(of(ps::OnError::drop), sink, {.threads = threads, .max_in_flight = window});
      CHECK(sink.committed == 90);
      CHECK(progress.dropped == 10);
      CHECK(progress.done == 100);
      const auto refused = error_of([&] { ps::write(of(ps::OnError::fail), sink, {.threads = threads}); });
      REQUIRE(refused);
      CHECK(refused->cause() == "its name is cut off");
    }
}

TEST_CASE("a sink's exception names the sink and the sample") {
  Sink sink;
  sink.fail_at = 12;
  const auto error = error_of([&] { ps::write(pipeline(), sink, {.threads = 2}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::io);
  CHECK(error->stage() == "write to test_sink");
  CHECK(error->file() == "/store");
  CHECK(*error->index() == expected()[12].index);
  CHECK(error->key() == expected()[12].key);
  CHECK(sink.finished == 0);
}

TEST_CASE("a write that is stopped commits and does not finish") {
  std::stop_source stop;
  Sink sink;
  const ps::WriteProgress done = ps::write(pipeline(), sink,
                                           {.threads = 1,
                                            .max_in_flight = 4,
                                            .commit_every = 10,
                                            .progress =
                                                [&](const ps::WriteProgress& p) {
                                                  if (p.done >= 20) stop.request_stop();
                                                },
                                            .stop = stop.get_token()});
  CHECK(done.done >= 20);
  CHECK(done.done < 100);
  CHECK(sink.committed == done.done);
  CHECK(sink.finished == 0);
}

TEST_CASE("a write keeps to its window of bytes") {
  const Watchdog dog(60s);
  struct Slow : Sink {
    std::atomic<std::int64_t>* in_work = nullptr;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      std::this_thread::sleep_for(200us);
      Sink::put(item, sample);
      --*in_work;
    }
  };
  // Room for so many finished samples of 24 bytes. One more is being stored, and those begun before are at most the
  // threads.
  for (const std::int64_t room : {2, 16}) {
    std::atomic<std::int64_t> in_work{0}, most{0};
    Records source{.count = 100};
    source.shared->before_read = [&](std::uint64_t) {
      const std::int64_t now = ++in_work;
      std::int64_t seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
    };
    Slow sink;
    sink.in_work = &in_work;
    ps::write(pipeline(source), sink,
              {.threads = 2, .max_in_flight = 50, .max_waiting_bytes = static_cast<std::size_t>(24 * room)});
    CHECK(sink.stored == expected());
    CHECK(most <= room + 4);
    CHECK(most >= room);
  }
}

TEST_CASE("of large samples a write has fewer in work than of small ones") {
  const Watchdog dog(60s);
  struct Pages {
    std::int64_t bytes = 0;
    std::shared_ptr<std::atomic<std::int64_t>> in_work = std::make_shared<std::atomic<std::int64_t>>(0);
    std::shared_ptr<std::atomic<std::int64_t>> most = std::make_shared<std::atomic<std::int64_t>>(0);
    std::uint64_t size() const { return 1000; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}}}; }
    std::string name() const { return "pages"; }
    void read(std::uint64_t, ps::SampleBuilder& out) const {
      const std::int64_t now = ++*in_work;
      std::int64_t seen = *most;
      while (seen < now && !most->compare_exchange_weak(seen, now)) {
      }
      out.emplace<std::uint8_t, 1>(0, {bytes});
    }
  };
  struct Slow {
    std::atomic<std::int64_t>* in_work = nullptr;
    std::int64_t least = 0;
    std::uint64_t stored = 0;
    void open(const ps::SinkJob&) {}
    bool has(const ps::SinkItem&) { return false; }
    void put(const ps::SinkItem&, ps::Sample&) {
      // All that may be made is made, while the first waits.
      if (stored++ == 0) {
        for (int waits = 0; waits < 500 && *in_work <= least; ++waits) std::this_thread::sleep_for(20ms);
        std::this_thread::sleep_for(200ms);
      }
      --*in_work;
    }
    void commit() {}
    void finish() {}
    std::string name() const { return "slow"; }
  };
  for (const bool large : {false, true}) {
    CAPTURE(large);
    const Pages source{.bytes = large ? 1 << 20 : 16};
    Slow sink{.in_work = source.in_work.get(), .least = large ? 32 : 256};
    ps::write(ps::from(source), sink, {.threads = 2});
    CHECK(sink.stored == 1000);
    CHECK(*source.most <= (large ? 64 + 2 : 512));
    CHECK(*source.most > sink.least);
  }
}

TEST_CASE("a finished sample is stored while a slow one after it is made") {
  const Watchdog dog(60s);
  struct Counts : Sink {
    std::atomic<std::uint64_t>* stored_so_far = nullptr;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Sink::put(item, sample);
      ++*stored_so_far;
    }
  };
  const std::thread::id caller = std::this_thread::get_id();
  // Again where the runner came late and the caller made the slow one.
  for (bool by_caller = true; by_caller;) {
    by_caller = false;
    std::atomic<std::uint64_t> stored{0};
    std::atomic<int> made{0};
    std::atomic<bool> seen{false};
    Records source{.count = 100};
    source.shared->before_read = [&](std::uint64_t) {
      const int number = ++made;
      if (number == 2) std::this_thread::sleep_for(500us);  // the caller waits for it by then
      if (number != 3) return;
      if (std::this_thread::get_id() == caller) {
        by_caller = true;
        return;
      }
      const auto begun = std::chrono::steady_clock::now();
      while (stored < 2 && std::chrono::steady_clock::now() - begun < 5s) std::this_thread::sleep_for(1ms);
      seen = stored >= 2;
    };
    Counts sink;
    sink.stored_so_far = &stored;
    ps::write(pipeline(source), sink, {.threads = 1});
    CHECK((seen || by_caller));
    CHECK(stored == 100);
  }
}

TEST_CASE("a finished sample keeps its values while its runner makes others") {
  const Watchdog dog(60s);
  // The bytes of one record in two lie in the reader's own memory, and stay there until its next one.
  struct Reader {
    std::vector<std::uint8_t> own = std::vector<std::uint8_t>(70'000);
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      const std::uint64_t bytes = i % 7 == 0 ? 0 : mix(i) % (i % 5 == 0 ? 70'000 : 3'000);
      out.scalar<std::uint64_t>(0, i);
      std::uint8_t* to = own.data();
      if (i % 2 == 0) to = out.emplace<std::uint8_t, 1>(1, {static_cast<std::int64_t>(bytes)}).data();
      for (std::uint64_t at = 0; at < bytes; ++at) to[at] = static_cast<std::uint8_t>(i + at);
      if (i % 2 != 0) out.view(1, std::as_bytes(std::span(own).first(bytes)));
    }
  };
  struct Source {
    std::uint64_t size() const { return 3000; }
    ps::Schema schema() const { return {{"i", ps::DType::u64, {}}, {"x", ps::DType::u8, {ps::dynamic}}}; }
    std::string name() const { return "bytes"; }
    std::unique_ptr<Reader> open_reader() const { return std::make_unique<Reader>(); }
  };
  struct Checks {
    std::uint64_t wrong = 0, next = 0;
    void open(const ps::SinkJob&) {}
    bool has(const ps::SinkItem&) { return false; }
    void put(const ps::SinkItem&, ps::Sample& sample) {
      const std::uint64_t i = next++;
      const auto x = sample.view<const std::uint8_t, 1>("x");
      bool right = sample.scalar<std::uint64_t>("i") == i;
      for (std::int64_t at = 0; at < x.shape()[0]; ++at)
        right &= x(at) == static_cast<std::uint8_t>(i + static_cast<std::uint64_t>(at));
      wrong += right ? 0 : 1;
    }
    void commit() {}
    void finish() {}
    std::string name() const { return "checks"; }
  };
  for (const bool filtered : {true, false}) {
    Checks sink;
    ps::Pipeline p = ps::from(Source{});
    if (filtered) p = p | ps::filter("x", [](ps::View<const std::uint8_t, 1>) { return true; });
    ps::write(p, sink, {.threads = 3});
    CHECK(sink.next == 3000);
    CHECK(sink.wrong == 0);
  }
}

TEST_CASE("the caller of write makes samples too where these are short and need every core") {
  const unsigned cores = std::thread::hardware_concurrency();
  if (cores < 2 || sanitized()) PENSTOCK_SKIP("one core, or samples that are not short under a sanitizer");
  const Watchdog dog(60s);
  std::atomic<int> by_caller{0};
  const std::thread::id caller = std::this_thread::get_id();
  const auto written = [&](std::uint64_t samples, unsigned threads, std::chrono::microseconds each) {
    Records source{.count = samples};
    source.shared->before_read = [&, each](std::uint64_t) {
      if (std::this_thread::get_id() == caller) ++by_caller;
      if (each != 0us) std::this_thread::sleep_for(each);
    };
    Nowhere sink;
    ps::write(ps::from(source), sink, {.threads = threads});
  };
  // It helps out now and then in any case, with a sample or two.
  constexpr int many = 50;
  const auto begun = std::chrono::steady_clock::now();
  while (by_caller < many && std::chrono::steady_clock::now() - begun < 20s) {
    by_caller = 0;
    written(20'000, cores, 0us);
  }
  CHECK(by_caller >= many);
  by_caller = 0;
  written(1'000, cores, 200us);
  CHECK(by_caller < many);  // a few where its runners come late
}

TEST_CASE("memory that a finished sample takes counts while it waits, and is little more than its values") {
  const Watchdog dog(60s);
  // What is made besides the values, in the same memory.
  struct Pages {
    std::int64_t besides = 0;
    std::shared_ptr<std::atomic<std::int64_t>> in_work = std::make_shared<std::atomic<std::int64_t>>(0);
    std::shared_ptr<std::atomic<std::int64_t>> most = std::make_shared<std::atomic<std::int64_t>>(0);
    std::uint64_t size() const { return 300; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {8192}}, {"besides", ps::DType::u8, {ps::dynamic}}}; }
    std::string name() const { return "pages"; }
    void read(std::uint64_t, ps::SampleBuilder& out) const {
      const std::int64_t now = ++*in_work;
      std::int64_t seen = *most;
      while (seen < now && !most->compare_exchange_weak(seen, now)) {
      }
      out.emplace<std::uint8_t, 1>(0, {8192});
      out.emplace<std::uint8_t, 1>(1, {besides});
    }
  };
  struct Slow {
    std::atomic<std::int64_t>* in_work = nullptr;
    void open(const ps::SinkJob&) {}
    bool has(const ps::SinkItem&) { return false; }
    void put(const ps::SinkItem&, ps::Sample&) {
      std::this_thread::sleep_for(500us);
      --*in_work;
    }
    void commit() {}
    void finish() {}
    std::string name() const { return "slow"; }
  };
  struct Case {
    std::int64_t besides;
    std::size_t held;
  };
  constexpr std::int64_t room = 32;
  for (const Case c : {Case{4096, 12288}, Case{3 * 8192, 8192}}) {
    CAPTURE(c.besides);
    const Pages source{.besides = c.besides};
    Slow sink{.in_work = source.in_work.get()};
    ps::write(ps::from(source) | ps::select_fields({"x"}), sink,
              {.threads = 2, .max_waiting_bytes = static_cast<std::size_t>(room) * c.held});
    CHECK(*source.most <= room + 6);
    CHECK(*source.most >= room);
  }
}

TEST_CASE("the caller of write leaves long samples to its runners") {
  const unsigned cores = std::thread::hardware_concurrency();
  if (cores < 2 || sanitized()) PENSTOCK_SKIP("one core, or samples that are not short under a sanitizer");
  const Watchdog dog(60s);
  // Many short ones, then a long one, which is the oldest while those after it are not so long.
  constexpr std::uint64_t first_long = 100'000, longer = 60;
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> by_caller{0};
  Records source{.count = first_long + longer};
  source.shared->before_read = [&](std::uint64_t i) {
    if (i < first_long) return;
    if (std::this_thread::get_id() == caller) ++by_caller;
    std::this_thread::sleep_for(i == first_long ? 300ms : 3ms);
  };
  Nowhere sink;
  ps::write(ps::from(source), sink, {.threads = cores});
  CHECK(by_caller <= 10);
}

TEST_CASE("a write without any bytes for its window has one sample in work") {
  const Watchdog dog(60s);
  std::atomic<int> in_work{0}, most{0};
  Records source{.count = 100};
  source.shared->before_read = [&](std::uint64_t) { most = std::max(most.load(), ++in_work); };
  struct Counts : Sink {
    std::atomic<int>* in_work = nullptr;
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      --*in_work;
      Sink::put(item, sample);
    }
  };
  Counts sink;
  sink.in_work = &in_work;
  ps::write(pipeline(source), sink, {.threads = 3, .max_in_flight = 20, .max_waiting_bytes = 0});
  CHECK(sink.stored == expected());
  CHECK(most == 1);
}

TEST_CASE("write takes no policy, and an exception from anywhere is an Error") {
  Sink sink;
  CHECK(error_of([&] { ps::write(pipeline() | ps::on_error({.policy = ps::OnError::mask}), sink, {}); })->code() ==
        ps::Errc::unsupported);
  CHECK(sink.opened == 0);
  struct NoReaders : Records {
    struct Reader {
      void read(std::uint64_t, ps::SampleBuilder&) {}
    };
    void read(std::uint64_t, ps::SampleBuilder&) const = delete;
    std::unique_ptr<Reader> open_reader() const { throw std::runtime_error("no more handles"); }
  };
  NoReaders source;
  source.count = 100;
  const auto error = error_of([&] { ps::write(ps::from(source), sink, {.threads = 1}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::user);
  CHECK(error->cause() == "no more handles");
}

TEST_CASE("nothing keeps what a write was given once it has returned") {
  const Watchdog dog(60s);
  const ps::Executor executor(2);
  for (std::uint64_t i = 0; i < scaled(2'000); ++i) {
    Records source{.count = 100};
    const std::weak_ptr<Records::Shared> kept = source.shared;
    Sink sink;
    sink.fail_at = i % 5;
    CHECK_THROWS(ps::write(pipeline(std::move(source)), sink, {.threads = 2, .executor = executor}));
    if (!kept.expired()) FAIL("write " << i << " is kept");
  }
}

TEST_CASE("long work in a transform sees that a write is to stop, and its sample is not stored") {
  const Watchdog dog(30s);
  std::stop_source stop;
  std::atomic<int> seen{0};
  Sink sink;
  const ps::WriteProgress done = ps::write(pipeline() | ps::map([&](ps::Sample& sample, ps::Context& context) {
                                             if (context.place().position < 3) return;
                                             if (context.place().position == 3) stop.request_stop();
                                             while (!context.stop_requested()) std::this_thread::yield();
                                             ++seen;
                                             sample.view<std::uint32_t, 1>("x")(0) = 0;
                                           }),
                                           sink, {.threads = 2, .stop = stop.get_token()});
  CHECK(seen >= 1);
  CHECK(done.done <= 3);
  CHECK(sink.stored.size() == done.done);
  CHECK(sink.finished == 0);
}

TEST_CASE("a write that commits after every 0 samples is refused") {
  Sink sink;
  CHECK(error_of([&] { ps::write(pipeline(), sink, {.commit_every = 0}); })->code() == ps::Errc::invalid_argument);
  CHECK(sink.opened == 0);
}

TEST_CASE("a write can sit on the executor's only thread") {
  const Watchdog dog(60s);
  Sink sink;
  ps::write(pipeline(), sink, {.executor = ps::Executor(1)});
  CHECK(sink.stored == expected());
}

TEST_CASE("a sink is given the threads of the run before it is opened") {
  // Work that a sink gives away, and does itself where nobody has begun it.
  struct Work {
    std::atomic<bool> taken{false}, done{false};
    std::thread::id by;
    void run() {
      if (taken.exchange(true)) return;
      by = std::this_thread::get_id();
      done = true;
      done.notify_all();
    }
  };
  struct Working : Sink {
    std::optional<ps::SinkThreads> threads;
    std::vector<std::shared_ptr<Work>> works;
    void work_on(ps::SinkThreads given) {
      CHECK(opened == 0);
      threads = std::move(given);
    }
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      Sink::put(item, sample);
      works.push_back(std::make_shared<Work>());
      threads->submit([work = works.back()] { work->run(); });
    }
    void finish() {
      for (const auto& work : works) {
        work->run();
        work->done.wait(false);
      }
      Sink::finish();
    }
  };
  for (const unsigned threads : {1u, 3u}) {
    Working sink;
    ps::write(pipeline(), sink, {.threads = threads});
    REQUIRE(sink.threads);
    CHECK(sink.threads->threads() == threads);
    CHECK(sink.works.size() == 100);
    CHECK(std::ranges::all_of(sink.works, [](const auto& work) { return work->done.load(); }));
  }
}

TEST_CASE("work that a sink has given away outlives the sink and the run") {
  const auto ran = std::make_shared<std::atomic<bool>>(false);
  {
    const ps::Executor executor(1);
    ps::SinkThreads(executor, 1).submit([ran] {
      *ran = true;
      ran->notify_all();
    });
    ran->wait(false);
  }
  CHECK(ran->load());
}

}  // namespace PENSTOCK_TEST_FILE
