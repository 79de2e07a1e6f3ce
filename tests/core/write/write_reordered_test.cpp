// SPDX-License-Identifier: Apache-2.0
// write() of samples that share what they are made of: children of a record, records of blocks and of a stream.
#include "support/catch.hpp"

#include <cstring>

#include <set>
#include <string>
#include <vector>

#include "core/write/write_help.hpp"

using namespace help;

TEST_CASE("the samples of records are put in order, whatever threads and windows there are") {
  const Watchdog dog(120s);
  Records slow{.count = 60};
  slow.shared->before_read = [](std::uint64_t i) {
    std::this_thread::sleep_for(std::chrono::microseconds(mix(i) % 300));
  };
  Parts parts;
  parts.before_child = [](std::uint64_t i, std::uint32_t child) {
    std::this_thread::sleep_for(std::chrono::microseconds(mix(i * 10 + child) % 200));
  };
  const ps::Pipeline p = tiles(slow, parts);
  const std::vector<Stored> expected = one_by_one(p, 4);
  REQUIRE(expected.size() == 60);
  for (const unsigned threads : {1u, 2u, 5u})
    for (const std::size_t window : {0u, 1u, 7u, 5000u})
      for (const std::size_t max_waiting_bytes : {std::size_t{0}, std::size_t{100}, std::size_t{256} << 20}) {
        Disk disk;
        Sink sink{&disk};
        const ps::WriteProgress done = ps::write(
            p, sink,
            {.threads = threads, .max_in_flight = window, .max_waiting_bytes = max_waiting_bytes, .commit_every = 13});
        CHECK(disk.kept == expected);
        CHECK(disk.finished == 1);
        CHECK(sink.announced == ps::unknown_size);
        CHECK(done.filtered == 60 / 4 * 2);  // of records with 2 and 3 children, one each
        CHECK(done.done == expected.size() + done.filtered);
        CHECK(done.total == done.done);
      }
}

TEST_CASE("a batch, and what is said of one, makes no difference to what is written") {
  const Watchdog dog(60s);
  const ps::Pipeline plain = tiles({.count = 20});
  Disk as_is, batched;
  write_to(as_is, plain);
  write_to(batched, plain | ps::ragged("long") | ps::batch(7, {.max_bytes = 40}));
  REQUIRE(!as_is.kept.empty());
  CHECK(as_is.kept == batched.kept);
}

TEST_CASE("the samples of one record are made by several threads at once") {
  const Watchdog dog(60s);
  Meeting together(2);
  Parts parts{.before_child = [&](std::uint64_t, std::uint32_t) {
    if (!together.complete()) together.attend();
  }};
  parts.most = 1000;
  Disk disk;
  // Only record 500 is written, which has 500 samples.
  write_to(disk, ps::from(Records{.count = 501}) | ps::skip(500) | parts, {.threads = 3});
  CHECK(together.complete());
  CHECK(disk.kept.size() == 500);
}

TEST_CASE("bad records and bad children are dropped one by one, and counted") {
  const Watchdog dog(60s);
  Records source{.count = 40};
  source.shared->faults[7] = Fault::corrupt;
  Parts parts{.before_child = [](std::uint64_t i, std::uint32_t child) {
    if (i == 11 && child == 2) raise(Fault::corrupt);
  }};
  const ps::Pipeline p = ps::from(source) | parts | ps::on_error({.policy = ps::OnError::drop, .max_share = 1});
  for (const unsigned threads : {1u, 4u}) {
    Disk disk;
    const ps::WriteProgress done = write_to(disk, p, {.threads = threads});
    CHECK(disk.kept == one_by_one(p, 4));
    CHECK(disk.kept.size() == 40 / 4 * 6 - 3 - 1);
    CHECK(done.dropped == 2);
    CHECK(done.done == disk.kept.size() + 2);
  }
  Disk disk;
  const auto error = error_of([&] {
    write_to(disk,
             ps::from(source) | parts | ps::on_error({.policy = ps::OnError::drop, .max_count = 1, .max_share = 1}));
  });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::quota_exceeded);
  CHECK(disk.kept.size() == 6 * 2 + 3 - 3 + 3 - 1);  // what stands before the second one
  CHECK(disk.finished == 0);
}

TEST_CASE("the first failure in order ends the writing of samples, what came before it is committed") {
  const Watchdog dog(60s);
  Records source{.count = 400};
  Parts parts{.before_child = [](std::uint64_t i, std::uint32_t child) {
    if (i == 203 && child == 1) std::this_thread::sleep_for(10ms);
    if (i == 203 && child == 1) raise(Fault::corrupt);
    if (i == 206) raise(Fault::io);
  }};
  for (const unsigned threads : {1u, 4u}) {
    Disk disk;
    const auto error = error_of([&] { write_to(disk, ps::from(source) | parts, {.threads = threads}); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::corrupt);
    CHECK(*error->index() == 203);
    CHECK(disk.kept.size() == 200 / 4 * 6 + 3 + 1);
    CHECK(disk.kept.back().key == "key-203/0000000000");
    CHECK(disk.finished == 0);
  }
}

TEST_CASE("what the key, the order or the sink fails at comes after what stands before it") {
  const Watchdog dog(60s);
  struct KeyFails : Records {
    std::string key(std::uint64_t i) const {
      if (i == 30) throw std::runtime_error("no key");
      return Records::key(i);
    }
  };
  KeyFails source;
  source.count = 60;
  const std::uint64_t before = 30 / 4 * 6 + 1;
  for (const bool some : {false, true}) {
    Disk disk;
    Sink sink{&disk};
    sink.some = some;
    auto error = error_of([&] { ps::write(ps::from(source) | Parts{}, sink, {.threads = 2}); });
    REQUIRE(error);
    CHECK(error->cause() == "no key");
    CHECK(error->stage() == "read");
    CHECK(disk.kept.size() == before);

    struct HasFails : Sink {
      bool has(const ps::SinkItem& item) {
        if (item.index == 30 && item.child == 1) throw std::runtime_error("can't look");
        return Sink::has(item);
      }
    };
    Disk other;
    HasFails fails{{&other}};
    fails.some = some;
    error = error_of([&] { ps::write(ps::from(Records{.count = 60}) | Parts{}, fails, {.threads = 2}); });
    REQUIRE(error);
    CHECK(error->stage() == "write to disk");
    CHECK(other.kept.size() == before + 1);
  }
  Disk disk;
  Sink full{&disk, 50};
  const auto error =
      error_of([&] { ps::write(ps::from(Records{.count = 60}) | Parts{}, full, {.threads = 2, .commit_every = 20}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::io);
  CHECK(disk.kept.size() == 40);
  CHECK(error->key() == full.uncommitted.back().key.substr(0, 4) + std::to_string(*error->index()) + "/" +
                            digits(*error->index() % 4 - 1));
}

TEST_CASE("of a record's samples only a window is held at a time") {
  const Watchdog dog(120s);
  static constexpr std::int64_t sample_bytes = 10'000;
  const std::uint64_t children = scaled(100'000, 5000);
  std::atomic<std::int64_t> held{0}, most{0};
  struct Many {
    std::atomic<std::int64_t>*held, *most;
    std::uint32_t children;
    ps::Schema schema(const ps::Schema&) const { return {{"tile", ps::DType::u8, {ps::dynamic}}}; }
    std::uint32_t count(const ps::Sample&, ps::Context&) const { return children; }
    void child(const ps::Sample&, std::uint32_t number, ps::Sample& out, ps::Context&) const {
      auto to = out.emplace<std::uint8_t, 1>("tile", {sample_bytes});
      std::memset(to.data(), static_cast<int>(number % 251), sample_bytes);
      const std::int64_t now = ++*held;
      for (std::int64_t seen = *most; seen < now && !most->compare_exchange_weak(seen, now);) {
      }
    }
  };
  struct Counting {
    std::atomic<std::int64_t>* held;
    std::uint64_t puts = 0, wrong = 0;
    void open(const ps::SinkJob&) {}
    bool has(const ps::SinkItem&) { return false; }
    void put(const ps::SinkItem& item, ps::Sample& sample) {
      const std::span<const std::byte> tile = sample.bytes("tile");
      if (item.child != puts || tile.size() != sample_bytes || tile.back() != static_cast<std::byte>(puts % 251))
        ++wrong;
      ++puts;
      --*held;
    }
    void commit() {}
    void finish() {}
    std::string name() const { return "counting"; }
  };
  const auto p = ps::from(Records{.count = 1}) | Many{&held, &most, static_cast<std::uint32_t>(children)};
  Counting sink{&held};
  ps::write(p, sink, {.threads = 2});
  CHECK(sink.puts == children);
  CHECK(sink.wrong == 0);
  // 16 in work, and three batches of 64.
  CHECK(most <= 16 + 3 * 64);
  CHECK(most > 16);
  // Bytes end a batch before its rows do: three with a quarter of the window each, and one sample more.
  most = 0;
  Counting narrow{&held};
  ps::write(p, narrow, {.threads = 2, .max_waiting_bytes = 16 * sample_bytes});
  CHECK(narrow.puts == children);
  CHECK(most <= 16 + 3 * (4 + 1));
  // Without any, a batch is one sample.
  most = 0;
  Counting none{&held};
  ps::write(p, none, {.threads = 2, .max_waiting_bytes = 0});
  CHECK(none.puts == children);
  CHECK(most <= 16 + 3);
}

TEST_CASE("a stream's records are written under their numbers, with and without samples made of them") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 3u}) {
    Disk plain;
    const ps::WriteProgress done = write_to(plain, ps::from(Counting{.count = 100}) | even(), {.threads = threads});
    REQUIRE(plain.kept.size() == 50);
    for (std::uint64_t i = 0; i < 50; ++i) {
      CHECK(plain.kept[i].key == digits(2 * i));
      CHECK(plain.kept[i].position == 2 * i);
      CHECK(!plain.kept[i].child);
    }
    CHECK(done.filtered == 50);
    CHECK(done.total == 100);
    Disk parts;
    write_to(parts, ps::from(Counting{.count = 100}) | Parts{}, {.threads = threads});
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < 100; ++i)
      for (std::uint64_t child = 0; child < i % 4; ++child) keys.push_back(digits(i) + "/" + digits(child));
    REQUIRE(parts.kept.size() == keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) CHECK(parts.kept[i].key == keys[i]);
  }
}

namespace {

// Record i is the number of its block, 8 to a block.
struct Blocks {
  struct Shared {
    std::mutex mutex;
    std::map<std::uint64_t, std::uint64_t> loads;
  };
  std::uint64_t count = 0;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  std::string key(std::uint64_t i) const { return "key-" + std::to_string(i); }
  std::uint64_t blocks() const { return (count + 7) / 8; }
  std::uint64_t block_bytes(std::uint64_t) const { return 8; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 8); }
  void load(std::uint64_t b, std::span<std::byte> bytes) const {
    const std::lock_guard lock(shared->mutex);
    ++shared->loads[b];
    std::memcpy(bytes.data(), &b, 8);
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    std::int64_t block = 0;
    std::memcpy(&block, blocks[0].data(), 8);
    out.scalar<std::int64_t>(0, block * 1000 + static_cast<std::int64_t>(i));
  }
  std::uint64_t decodes() const {
    std::uint64_t n = 0;
    for (const auto& [block, times] : shared->loads) n += times;
    return n;
  }
};

}  // namespace

TEST_CASE("a block that records share is decoded once while they are written") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 3u}) {
    const Blocks source{.count = 803};
    Disk disk;
    Sink sink{&disk};
    const ps::WriteProgress done = ps::write(ps::from(source) | ps::shuffle(), sink, {.threads = threads});
    CHECK(source.decodes() == source.blocks());
    REQUIRE(disk.kept.size() == 803);
    CHECK(sink.announced == 803);
    CHECK(done.total == 803);
    for (std::uint64_t i = 0; i < 803; ++i) {
      const Stored& stored = disk.kept[i];
      CHECK(stored.position == i);
      CHECK(stored.key == "key-" + std::to_string(stored.index));
      std::int64_t y = 0;
      std::memcpy(&y, stored.bytes.data(), 8);
      CHECK(y == static_cast<std::int64_t>(stored.index / 8 * 1000 + stored.index));
    }
    // What is there is not decoded again.
    const Blocks same{.count = 803};
    Disk part;
    Sink killed{&part, 400};
    CHECK_THROWS(ps::write(ps::from(same), killed, {.threads = threads, .commit_every = 400}));
    REQUIRE(part.kept.size() == 400);
    same.shared->loads.clear();
    const ps::WriteProgress rest = write_to(part, ps::from(same), {.threads = threads});
    CHECK(part.kept.size() == 803);
    CHECK(rest.skipped == 400);
    CHECK(same.decodes() == same.blocks() - 50);
    same.shared->loads.clear();
    CHECK(write_to(part, ps::from(same), {.threads = threads}).skipped == 803);
    CHECK(same.decodes() == 0);
    CHECK(part.finished == 2);
  }
}

namespace {

struct MoveByDraw {
  std::string name() const { return "move_by_draw"; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    *sample.view<std::int64_t, 0>("y").data() += static_cast<std::int64_t>(context.rng()());
  }
};

}  // namespace

TEST_CASE("of blocks, no more is decoded than what is missing needs, and that is what it would have been") {
  const Watchdog dog(60s);
  const auto pipeline = [](const Blocks& source) {
    return ps::from(source) | ps::shuffle({.seed = 2, .blocks = true, .block_size = 8}) | MoveByDraw{};
  };
  const Blocks whole{.count = 803};
  Disk all;
  write_to(all, pipeline(whole));
  REQUIRE(all.kept.size() == 803);
  for (const std::uint64_t every : {1u, 2u, 3u, 50u, 400u, 802u}) {
    for (const unsigned threads : {1u, 3u}) {
      Disk disk;
      std::set<std::uint64_t> blocks;
      std::vector<Stored> missing;
      for (const Stored& stored : all.kept)
        if (stored.position % every == every / 2) {
          missing.push_back(stored);
          blocks.insert(stored.index / 8);
        } else {
          disk.keys.insert(stored.key);
        }
      const Blocks source{.count = 803};
      const ps::WriteProgress done = write_to(disk, pipeline(source), {.threads = threads});
      CAPTURE(every, threads);
      CHECK(disk.kept == missing);
      CHECK(done.skipped == 803 - missing.size());
      CHECK(done.done == 803);
      CHECK(source.shared->loads.size() == blocks.size());
      CHECK(source.decodes() == blocks.size());
      CHECK(disk.finished == 1);
    }
  }
}

TEST_CASE("a write of blocks goes on after more missing samples than are asked about at once") {
  const Watchdog dog(120s);
  const Blocks source{.count = 150'000};
  Disk disk;
  disk.keys = {"key-70000", "key-149999"};
  const ps::WriteProgress done = write_to(disk, ps::from(source));
  CHECK(done.skipped == 2);
  REQUIRE(disk.kept.size() == 149'998);
  for (std::uint64_t i = 0; i < disk.kept.size(); ++i)
    if (const std::uint64_t index = i < 70'000 ? i : i + 1; disk.kept[i].index != index) FAIL(index);
  CHECK(source.decodes() <= source.blocks() + 2);
}

TEST_CASE("a write of blocks tells of every sample that it drops") {
  const Watchdog dog(60s);
  struct Bad : Blocks {
    void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
      if (i % 5 == 1 || (i >= 1000 && i < 4000)) throw ps::Error(ps::Errc::corrupt, "record " + std::to_string(i));
      Blocks::read(i, blocks, out);
    }
  };
  const Bad source{{.count = 5000}};
  std::vector<std::string> expected;
  for (std::uint64_t i = 0; i < 5000; ++i)
    if (i % 5 == 1 || (i >= 1000 && i < 4000)) expected.push_back("record " + std::to_string(i));
  for (const bool again : {false, true}) {
    Disk disk;
    if (again)
      for (std::uint64_t i = 0; i < 5000; i += 5) disk.keys.insert("key-" + std::to_string(i));
    std::vector<std::string> told;
    const ps::WriteProgress done =
        write_to(disk, ps::from(source) | ps::on_error({.policy = ps::OnError::drop, .max_share = 1}),
                 {.threads = 3, .on_drop = [&](const ps::Error& error) {
                    CHECK(error.stage() == "read");
                    told.push_back(error.cause());
                  }});
    std::vector<std::string> of_this = expected;
    if (again)
      std::erase_if(of_this, [](const std::string& text) { return text.ends_with('0') || text.ends_with('5'); });
    CHECK(told == of_this);
    CHECK(done.dropped == of_this.size());
  }
}

TEST_CASE("a block that is more than a write may keep is an error of its samples") {
  const Watchdog dog(60s);
  const Blocks source{.count = 100};
  for (const std::size_t bytes : {std::size_t{7}, std::size_t{8}, std::size_t{0}}) {
    Disk disk;
    const auto run = [&] { return write_to(disk, ps::from(source), {.threads = 2, .max_block_bytes = bytes}); };
    if (bytes == 7)
      CHECK_THROWS_AS(run(), ps::Error);
    else
      CHECK(run().done == 100);
    CHECK(disk.kept.size() == (bytes == 7 ? 0 : 100));
  }
}

TEST_CASE("a source of blocks whose records have many samples is written") {
  const Watchdog dog(60s);
  const Blocks source{.count = 100};
  Disk disk;
  write_to(disk, ps::from(source) | Parts{}, {.threads = 3});
  CHECK(source.decodes() == source.blocks());
  CHECK(disk.kept == one_by_one(ps::from(source) | Parts{}, 4));
}

TEST_CASE("nothing is written of nothing") {
  const Watchdog dog(60s);
  for (const ps::Pipeline& p : {ps::from(Records{.count = 0}) | Parts{}, ps::from(Counting{.count = 0}) | even(),
                                ps::from(Blocks{.count = 0}), ps::from(Records{.count = 50}) | Parts{.most = 1}}) {
    Disk disk;
    const ps::WriteProgress done = write_to(disk, p);
    CHECK(done.done == 0);
    CHECK(done.total == 0);
    CHECK(disk.finished == 1);
  }
}

TEST_CASE("a write of samples can sit on the executor's only thread") {
  const Watchdog dog(60s);
  const ps::Pipeline p = tiles({.count = 30});
  for (const bool some : {false, true}) {
    Disk disk;
    Sink sink{&disk};
    sink.some = some;
    ps::write(p, sink, {.executor = ps::Executor(1)});
    CHECK(disk.kept == one_by_one(p, 4));
  }
}

TEST_CASE("nothing keeps what a write of samples was given once it has returned") {
  const Watchdog dog(60s);
  const ps::Executor executor(2);
  for (std::uint64_t i = 0; i < scaled(500); ++i) {
    Records source{.count = 100};
    const std::weak_ptr<Records::Shared> kept = source.shared;
    Disk disk;
    Sink sink{&disk, i % 5};
    CHECK_THROWS(ps::write(ps::from(std::move(source)) | Parts{}, sink, {.threads = 2, .executor = executor}));
    if (!kept.expired()) FAIL("write " << i << " is kept");
  }
}
