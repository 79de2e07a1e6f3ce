// SPDX-License-Identifier: Apache-2.0
// Several ranks, each with a loader of its own, and what they have together.
#include "support/catch.hpp"

#include <numeric>

#include "core/help.hpp"

using namespace help;

namespace {

ps::Pipeline on_rank(const ps::Pipeline& p, int rank, int world) {
  return p | ps::for_rank({.rank = rank, .world = world});
}

std::vector<ps::Loader> loaders(const ps::Pipeline& p, int world, std::uint64_t salt = 0) {
  std::vector<ps::Loader> out;
  for (int rank = 0; rank < world; ++rank) {
    const std::uint64_t n = salt + static_cast<std::uint64_t>(rank);
    out.emplace_back(on_rank(p, rank, world), ps::LoaderOptions{.threads = 1 + static_cast<unsigned>(n % 3),
                                                                .depth = 2 + static_cast<unsigned>(n % 4)});
  }
  return out;
}

// One rank's batch after another's.
void append(Got& batch, const Got& part, const ps::Schema& schema) {
  const std::size_t before = batch.indices.size(), more = part.indices.size();
  std::vector<std::byte> bytes;
  std::size_t from = 0, of_part = 0;
  for (const ps::Field& f : schema) {
    const std::size_t row = f.shape.elements() * ps::size_of(f.dtype);
    const auto take = [&](const std::vector<std::byte>& all, std::size_t& at, std::size_t rows) {
      bytes.insert(bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                   all.begin() + static_cast<std::ptrdiff_t>(at + rows * row));
      at += rows * row;
    };
    take(batch.bytes, from, before);
    take(part.bytes, of_part, more);
  }
  batch.bytes = std::move(bytes);
  batch.indices.insert(batch.indices.end(), part.indices.begin(), part.indices.end());
  batch.mask.insert(batch.mask.end(), part.mask.begin(), part.mask.end());
}

// The next step of all ranks together; nothing where all are at the end of the epoch.
std::optional<Got> step(std::vector<ps::Loader>& ranks) {
  std::optional<Got> whole;
  std::vector<std::uint64_t> sizes, global;
  for (ps::Loader& loader : ranks) {
    const std::optional<ps::Batch> batch = loader.next();
    if (&loader != &ranks[0]) REQUIRE(batch.has_value() == whole.has_value());
    if (!batch) continue;
    const Got part = copy(*batch);
    sizes.push_back(batch->size());
    global.push_back(batch->global_size());
    if (!whole) {
      whole = part;
      continue;
    }
    REQUIRE((part.epoch == whole->epoch && part.number == whole->number));
    append(*whole, part, batch->schema());
  }
  if (!whole) return whole;
  CHECK(std::ranges::is_sorted(sizes, std::greater<>()));
  CHECK(sizes.front() - sizes.back() <= 1);
  const auto padding = std::ranges::count(whole->indices, ~std::uint64_t{0});
  for (const std::uint64_t size : global) CHECK(size == whole->indices.size() - static_cast<std::uint64_t>(padding));
  return whole;
}

std::vector<Got> epoch_of(std::vector<ps::Loader>& ranks) {
  std::vector<Got> out;
  while (auto whole = step(ranks)) out.push_back(std::move(*whole));
  return out;
}

struct Shape {
  const char* name;
  ps::Pipeline pipeline;
};

std::vector<Shape> shapes() {
  const auto faulty = [](std::uint64_t n) {
    Records r{.count = n};
    for (std::uint64_t i = 2; i < n; i += 5) r.shared->faults[i] = i % 2 == 0 ? Fault::corrupt : Fault::standard;
    return r;
  };
  const auto shuffled = [](std::uint64_t n) {
    return ps::from(Records{.count = n}) | ps::shuffle({.seed = 3}) | AddDraw{};
  };
  return {
      {"nine", shuffled(90) | ps::batch(9)},
      {"keep", shuffled(50) | ps::batch(12)},
      {"one left", shuffled(49) | ps::batch(12)},
      {"drop", shuffled(55) | ps::batch(12, {.tail = ps::Tail::drop})},
      {"pad", shuffled(55) | ps::batch(12, {.tail = ps::Tail::pad})},
      {"pad, one left", shuffled(49) | ps::batch(12, {.tail = ps::Tail::pad})},
      {"one batch", shuffled(7) | ps::batch(64)},
      {"one batch, padded", shuffled(7) | ps::batch(64, {.tail = ps::Tail::pad})},
      {"in order", ps::from(Records{.count = 37}) | ps::batch(8)},
      {"one record", ps::from(Records{.count = 1}) | ps::batch(8)},
      {"repeat", ps::from(Records{.count = 11}) | ps::shuffle() | ps::repeat(3) | AddDraw{} | ps::batch(8)},
      {"blocks", ps::from(AdvisedRecords{{.count = 61}}) |
                     ps::shuffle({.blocks = true, .window_blocks = 3, .block_size = 4}) | AddDraw{} | ps::batch(13)},
      {"replace", ps::from(faulty(50)) | ps::shuffle() | AddDraw{} | ps::on_error({.policy = ps::OnError::replace}) |
                      ps::batch(12)},
      {"mask", ps::from(faulty(50)) | ps::shuffle() | AddDraw{} | ps::on_error({.policy = ps::OnError::mask}) |
                   ps::batch(12, {.tail = ps::Tail::pad})},
  };
}

}  // namespace

TEST_CASE("what the ranks have together is what one rank has") {
  const Watchdog dog(120s);
  for (const Shape& shape : shapes()) {
    const std::vector<Got> expected = collect(shape.pipeline, {.threads = 2}, 2);
    for (const int world : {1, 2, 3, 4, 5, 8}) {
      CAPTURE(shape.name, world);
      std::vector<ps::Loader> ranks = loaders(shape.pipeline, world);
      std::vector<Got> got = epoch_of(ranks);
      for (Got& batch : epoch_of(ranks)) got.push_back(std::move(batch));
      CHECK(got == expected);
      for (ps::Loader& loader : ranks) {
        CHECK(loader.pipeline().fingerprint() == shape.pipeline.fingerprint());
        CHECK(loader.pipeline().batch_size() == shape.pipeline.batch_size());
        CHECK(loader.pipeline().size() == shape.pipeline.size());
        CHECK(loader.steps_per_epoch() == shape.pipeline.steps_per_epoch());
        CHECK(loader.state().step == expected.size());
      }
    }
  }
}

TEST_CASE("nine rows over four ranks are 3, 2, 2 and 2") {
  const ps::Pipeline p = ps::from(Records{.count = 9 + 6}) | ps::batch(9);
  const std::vector<std::vector<std::uint64_t>> full{{0, 1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const std::vector<std::vector<std::uint64_t>> last{{9, 10}, {11, 12}, {13}, {14}};
  for (int rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const auto got = collect(on_rank(p, rank, 4), {.threads = 2});
    REQUIRE(got.size() == 2);
    CHECK(got[0].indices == full[static_cast<std::size_t>(rank)]);
    CHECK(got[1].indices == last[static_cast<std::size_t>(rank)]);
    CHECK(got[1].number == 1);
  }
}

TEST_CASE("a rank without a row of the last batch gets a batch of none") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(AdvisedRecords{{.count = 9}}) | AddDraw{} | ps::batch(4);
  for (int rank = 1; rank < 4; ++rank) {
    ps::Loader loader(on_rank(p, rank, 4), {.threads = 2, .depth = 2});
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<std::uint64_t> sizes;
      for (ps::Batch& batch : loader.epoch()) {
        sizes.push_back(batch.size());
        if (batch.number() < 2) continue;
        CHECK_FALSE(batch.empty());
        CHECK(batch.global_size() == 1);
        CHECK(batch.indices().empty());
        CHECK(batch.mask().empty());
        CHECK(batch.view<std::uint32_t, 2>("x").extent(0) == 0);
        CHECK(batch.view<std::uint32_t, 2>("x").extent(1) == 4);
        CHECK(batch["x"].bytes() == 0);
        for (const std::uint32_t v : batch.view<std::uint32_t, 2>("x")) FAIL("element " << v);
        CHECK(batch.epoch() == epoch);
        CHECK(loader.state().position == 0);  // of the next epoch
      }
      CHECK(sizes == std::vector<std::uint64_t>{1, 1, 0});
    }
    CHECK(loader.state().step == 9);
    CHECK(loader.state().samples == 6);
  }
}

TEST_CASE("padding stands after the end of the batch of all ranks") {
  const ps::Pipeline p = ps::from(Records{.count = 12}) | ps::batch(7, {.tail = ps::Tail::pad});
  const std::uint64_t none = ~std::uint64_t{0};
  const std::vector<std::vector<std::uint64_t>> last{{7, 8, 9}, {10, 11}, {none, none}};
  const std::vector<std::vector<std::uint8_t>> masks{{1, 1, 1}, {1, 1}, {0, 0}};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CAPTURE(rank);
    // Twice through the same buffers, so that padding is seen to be cleared.
    const auto got = collect(on_rank(p, static_cast<int>(rank), 3), {.threads = 1, .depth = 2}, 4);
    REQUIRE(got.size() == 8);
    for (std::size_t i = 1; i < 8; i += 2) {
      CHECK(got[i].indices == last[rank]);
      CHECK(got[i].mask == masks[rank]);
      if (rank == 2) CHECK(std::ranges::all_of(got[i].bytes, [](std::byte b) { return b == std::byte{0}; }));
    }
  }
}

TEST_CASE("a rank reads, announces and holds its own rows alone") {
  const std::uint64_t n = 103, rows = 10;
  std::map<std::uint64_t, std::uint64_t> announced;
  std::uint64_t reads = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const AdvisedRecords source{{.count = n}};
    ps::Loader loader(on_rank(ps::from(source) | ps::shuffle() | ps::batch(rows), rank, 4),
                      {.threads = 2, .depth = 3, .epochs = 1});
    std::uint64_t samples = 0;
    for (ps::Batch& batch : loader.epoch()) samples += batch.size();
    CHECK(source.shared->reads == samples);
    CHECK(loader.report().samples == samples);
    CHECK(loader.state().samples == samples);
    reads += samples;
    for (const auto& [index, times] : source.shared->advice) announced[index] += times;
    // x: 16 bytes a row, y: 8, each field at a multiple of 256.
    ps::Loader whole(ps::from(Records{.count = n, .width = 1024}) | ps::batch(rows), {.threads = 1});
    ps::Loader part(on_rank(ps::from(Records{.count = n, .width = 1024}) | ps::batch(rows), rank, 4), {.threads = 1});
    const std::size_t share = rank < 2 ? 3 : 2;
    CHECK(whole.report().memory[0].bytes_each == 10 * 4096 + 256);
    CHECK(part.report().memory[0].bytes_each == share * 4096 + 256);
  }
  CHECK(reads == n);
  CHECK(announced.size() == n);
  CHECK(std::ranges::all_of(announced, [](const auto& a) { return a.second == 1; }));
}

TEST_CASE("no source is told of no records") {
  struct Strict : Records {
    void will_need(std::span<const std::uint64_t> indices) const noexcept {
      if (indices.empty()) shared->advised.fetch_add(1);
    }
  };
  const Strict source{{.count = 9}};
  CHECK(collect(on_rank(ps::from(source) | ps::batch(4), 3, 4), {.threads = 2}, 2).size() == 6);
  CHECK(source.shared->advised == 0);
}

TEST_CASE("states of all ranks name the same place, and any resumes on any number of ranks") {
  const Watchdog dog(300s);
  constexpr std::uint64_t epochs = 2;
  for (const Shape& shape : shapes()) {
    const std::vector<Got> expected = collect(shape.pipeline, {.threads = 2}, epochs);
    for (const int world : {1, 3, 4}) {
      for (std::size_t k = 0; k <= expected.size(); k += scale() < 1 ? 3 : 1) {
        const int then = 1 + static_cast<int>(mix(k + static_cast<std::uint64_t>(world)) % 5);
        CAPTURE(shape.name, world, k, then);
        std::vector<ps::Loader> ranks = loaders(shape.pipeline, world, k);
        while (ranks[0].state().step < k) {
          if (const auto whole = step(ranks)) REQUIRE(*whole == expected[ranks[0].state().step - 1]);
        }
        std::vector<ps::State> states;
        for (const ps::Loader& loader : ranks) states.push_back(loader.state());
        for (const ps::State& s : states) {
          ps::State same = states[0];
          same.samples = s.samples;
          same.replaced = s.replaced;
          same.check = s.check;
          CHECK(s == same);
        }
        const ps::State& saved = states[mix(k + 7) % states.size()];
        std::vector<ps::Loader> rest = loaders(shape.pipeline, then, k + 1);
        for (ps::Loader& loader : rest) {
          loader.resume(saved);
          CHECK(loader.state() == saved);
        }
        std::size_t at = k;
        while (rest[0].epoch_number() < epochs && at < expected.size()) {
          if (const auto whole = step(rest)) REQUIRE(*whole == expected[at++]);
        }
        CHECK(at == expected.size());
      }
    }
  }
}

TEST_CASE("quotas count a rank's own samples, from what the state says") {
  Records source{.count = 40};
  for (const std::uint64_t i : {0u, 1u, 12u, 13u, 22u}) source.shared->faults[i] = Fault::corrupt;
  const auto pipeline = [&](std::uint64_t most) {
    return ps::from(source) | ps::on_error({.policy = ps::OnError::mask, .max_count = most}) | ps::batch(10);
  };
  // The first of two ranks has 0, 1, 12, 13 and 22, the second none.
  std::vector<ps::Loader> ranks = loaders(pipeline(5), 2);
  CHECK(epoch_of(ranks).size() == 4);
  CHECK(ranks[0].state().replaced == 5);
  CHECK(ranks[1].state().replaced == 0);
  CHECK(ranks[0].state().samples == 20);

  std::vector<ps::Loader> strict = loaders(pipeline(4), 2);
  for (int i = 0; i < 2; ++i) REQUIRE(step(strict));
  const ps::State saved = strict[0].state();
  CHECK(saved.replaced == 4);
  const auto error = error_of([&] { (void)strict[0].next(); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::quota_exceeded);
  CHECK(error->index() == 22);
  CHECK(strict[1].next());  // the other one does not hear of it
  // All ranks go on from the counts of the one that saved.
  std::vector<ps::Loader> rest = loaders(pipeline(4), 3);
  for (ps::Loader& loader : rest) {
    loader.resume(saved);
    CHECK(loader.state().replaced == 4);
  }
  const auto again = error_of([&] { (void)rest[0].next(); });  // 20 to 23
  REQUIRE(again);
  CHECK(again->index() == 22);
  CHECK(rest[1].next());
  CHECK(rest[2].next());
}

TEST_CASE("a bad sample ends the epoch on the rank whose it is") {
  Records source{.count = 24};
  source.shared->faults[9] = Fault::corrupt;
  const ps::Pipeline p = ps::from(source) | ps::batch(6);
  CHECK(collect(on_rank(p, 0, 2), {.threads = 1}).size() == 4);
  ps::Loader loader(on_rank(p, 1, 2), {.threads = 1});
  CHECK(loader.next()->indices()[0] == 3);
  const auto error = error_of([&] { (void)loader.next(); });
  REQUIRE(error);
  CHECK(error->index() == 9);
  CHECK(error->key() == "key-9");
  CHECK(loader.state().position == 6);
}

TEST_CASE("for_rank may stand anywhere, and is not in the fingerprint") {
  const ps::Stage part = ps::for_rank({.rank = 1, .world = 3});
  const ps::Pipeline source = ps::from(Records{.count = 31});
  const ps::Pipeline none = source | ps::shuffle() | AddDraw{} | ps::batch(8);
  const ps::Pipeline first = source | part | ps::shuffle() | AddDraw{} | ps::batch(8);
  const ps::Pipeline middle = source | ps::shuffle() | part | AddDraw{} | ps::batch(8);
  const ps::Pipeline last = none | part;
  const auto expected = collect(last, {.threads = 1}, 2);
  for (const ps::Pipeline& p : {first, middle, last}) {
    CHECK(p.fingerprint() == none.fingerprint());
    CHECK(collect(p, {.threads = 2}, 2) == expected);
    CHECK(p.at(5)["y"].as<const std::int64_t, 0>()() == none.at(5)["y"].as<const std::int64_t, 0>()());
  }
}

TEST_CASE("a plan says which rows are whose") {
  const auto plan = [](std::uint64_t n, ps::BatchOptions options, int rank, int world) {
    return on_rank(ps::from(Records{.count = n}) | ps::batch(9, options), rank, world).plan();
  };
  const auto says = [](const std::string& text, const std::string& words) {
    CAPTURE(text, words);
    CHECK(text.find(words) != std::string::npos);
  };
  says(plan(20, {}, 0, 4), "ranks   rank 0 of 4: rows 0 to 2 of the 9 of each batch, row 0 of the last one's\n");
  says(plan(20, {}, 1, 4), "ranks   rank 1 of 4: rows 3 to 4 of the 9 of each batch, row 1 of the last one's\n");
  says(plan(20, {}, 3, 4), "ranks   rank 3 of 4: rows 7 to 8 of the 9 of each batch, no row of the last one's\n");
  says(plan(18, {}, 3, 4), "ranks   rank 3 of 4: rows 7 to 8 of the 9 of each batch\n");
  says(plan(20, {.tail = ps::Tail::drop}, 3, 4), "ranks   rank 3 of 4: rows 7 to 8 of the 9 of each batch\n");
  says(plan(20, {.tail = ps::Tail::pad}, 0, 4), "rows 0 to 1 of the last one's, and padding\n");
  says(plan(20, {.tail = ps::Tail::pad}, 3, 4), "no row of the last one's, and padding\n");
  says(plan(20, {}, 8, 9), "ranks   rank 8 of 9: row 8 of the 9 of each batch, no row of the last one's\n");
  says(plan(0, {}, 1, 2), "ranks   rank 1 of 2: rows 5 to 8 of the 9 of each batch\n");
  says(plan(20, {}, 0, 1), "ranks   rank 0 of 1\n");
  says((ps::from(Records{.count = 3}) | ps::for_rank({.rank = 1, .world = 2})).plan(), "ranks   rank 1 of 2\n");
  CHECK((ps::from(Records{.count = 3}) | ps::batch(2)).plan().find("for_rank") == std::string::npos);
}

TEST_CASE("what can't be shared is refused when the pipeline is joined") {
  const auto refused = [](ps::Errc code, const std::string& words, const std::function<void()>& f) {
    const auto error = error_of(f);
    CAPTURE(words);
    REQUIRE(error);
    CHECK(error->code() == code);
    CHECK(error->stage() == "for_rank");
    CAPTURE(error->what());
    CHECK(error->cause().find(words) != std::string::npos);
  };
  using enum ps::Errc;
  const auto bad = {std::pair{3, 3}, {4, 3}, {-1, 3}, {0, 0}, {0, -1}, {-2, -1}};
  for (const auto& [rank, world] : bad)
    refused(invalid_argument, "no rank " + std::to_string(rank) + " in a world of " + std::to_string(world),
            [&, r = rank, w = world] { (void)ps::for_rank({.rank = r, .world = w}); });
  const ps::Pipeline source = ps::from(Records{.count = 30});
  const ps::Stage two = ps::for_rank({.rank = 1, .world = 2}), one = ps::for_rank({.rank = 0, .world = 1});
  refused(invalid_argument, "already", [&] { (void)(source | two | two); });
  refused(invalid_argument, "already", [&] { (void)(source | one | two); });
  for (const int world : {4, 5}) {
    const ps::Stage part = ps::for_rank({.rank = 0, .world = world});
    refused(invalid_argument, "a batch of 3 rows can't be shared by " + std::to_string(world) + " ranks",
            [&] { (void)(source | ps::batch(3) | part); });
    refused(invalid_argument, "at least one row for each", [&] { (void)(source | part | ps::batch(3)); });
  }
  CHECK_NOTHROW(source | ps::batch(3) | ps::for_rank({.rank = 2, .world = 3}));

  struct Twice {
    ps::Schema schema(const ps::Schema& in) const { return in; }
    std::uint32_t count(const ps::Sample&, ps::Context&) const { return 2; }
    void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const {}
  };
  struct Stream {
    Records records{.count = 5};
    std::uint64_t next_record = 0;
    ps::Schema schema() const { return records.schema(); }
    void reset(std::uint64_t) { next_record = 0; }
    bool next(ps::SampleBuilder& out) {
      if (next_record == records.size()) return false;
      records.read(next_record++, out);
      return true;
    }
  };
  const ps::Stage some = ps::filter([](const ps::Sample&) { return true; });
  const ps::Stage dropping = ps::on_error({.policy = ps::OnError::drop});
  const std::string words = "can't be shared by 2 ranks";
  refused(unsupported, words, [&] { (void)(source | some | two); });
  refused(unsupported, words, [&] { (void)(source | two | some); });
  refused(unsupported, words, [&] { (void)(source | Twice{} | ps::batch(4) | two); });
  refused(unsupported, words, [&] { (void)(source | two | Twice{}); });
  refused(unsupported, words, [&] { (void)(source | dropping | two); });
  refused(unsupported, words, [&] { (void)(source | ps::batch(4) | two | dropping); });
  refused(unsupported, words, [&] { (void)(ps::from(Stream{}) | two); });
  CHECK_NOTHROW(source | some | ps::for_rank({.rank = 1, .world = 2, .steps_per_epoch = 3}) | Twice{} | dropping);

  // One rank is none to share with.
  const ps::Pipeline alone = source | some | ps::batch(4);
  CHECK(collect(alone | one, {.threads = 1}) == collect(alone, {.threads = 1}));
  for (ps::Loader loader(alone, {.threads = 1}); ps::Batch & batch : loader.epoch())
    CHECK(batch.global_size() == batch.size());
}

TEST_CASE("write() stores no part of a run") {
  const ps::Pipeline source = ps::from(Records{.count = 30});
  CountingSink sink;
  const auto error = error_of([&] { (void)ps::write(source | ps::for_rank({.rank = 1, .world = 2}), sink); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::unsupported);
  CHECK(error->stage() == "write");
  CHECK(error->cause().find("for_rank") != std::string::npos);
  CHECK(error_of([&] {
    (void)ps::write(source | ps::filter([](const ps::Sample&) { return true; }) | ps::for_rank({.steps_per_epoch = 2}),
                    sink);
  }));
  CHECK(sink.stored == 0);
  CHECK(ps::write(source | ps::for_rank({.rank = 0, .world = 1}), sink).done == 30);
}
