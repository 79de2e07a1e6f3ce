// SPDX-License-Identifier: Apache-2.0
// Fields of any length, and batches of any number of rows: what the random pipelines, which know their batches, can't
// tell.
#include <penstock/testing/statistics_resource.hpp>

#include "support/catch.hpp"

#include <cstring>
#include <numeric>

#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

// text: u32[?] of `length(i)` elements i; y: i64[] = i.
struct Texts {
  std::uint64_t count = 10;
  std::function<std::int64_t(std::uint64_t)> length = [](std::uint64_t i) { return static_cast<std::int64_t>(i % 5); };
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"text", ps::DType::u32, {ps::dynamic}}, {"y", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (std::uint32_t& v : out.emplace<std::uint32_t, 1>("text", {length(i)})) v = static_cast<std::uint32_t>(i);
    out.scalar<std::int64_t>("y", static_cast<std::int64_t>(i));
  }
};

ps::Pipeline texts(std::uint64_t count = 10) { return ps::from(Texts{.count = count}); }

std::string refusal(const std::function<void()>& f) {
  const auto error = error_of(f);
  return error ? std::string(error->what()) : "nothing";
}

}  // namespace

TEST_CASE("ragged rows keep their sizes, and pack into one piece") {
  ps::Loader loader(texts() | ps::ragged("text") | ps::batch(4), {.threads = 2});
  auto b = loader.next();
  REQUIRE(b);
  const ps::RaggedRows rows = b->ragged("text");
  REQUIRE(rows.size() == 4);
  CHECK(rows.dtype() == ps::DType::u32);
  for (std::uint64_t r = 0; r < 4; ++r) {
    const auto row = rows.view<std::uint32_t, 1>(r);
    CHECK(row.extent(0) == static_cast<std::int64_t>(r));
    CHECK(reinterpret_cast<std::uintptr_t>(row.data()) % 64 == 0);
    for (const std::uint32_t v : row) CHECK(v == r);
  }
  CHECK(std::vector<std::int64_t>(rows.lengths().begin(), rows.lengths().end()) ==
        std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(rows.bytes() == 24);
  const ps::PackedRows packed = rows.packed();
  CHECK(packed.offsets == std::vector<std::int64_t>{0, 0, 1, 3, 6});
  const auto elements = packed.elements<std::uint32_t>();
  CHECK(std::vector<std::uint32_t>(elements.begin(), elements.end()) == std::vector<std::uint32_t>{1, 2, 2, 3, 3, 3});
  std::vector<std::byte> mine(24);
  rows.pack(mine);
  CHECK(mine == packed.data);
  mine.resize(23);
  CHECK(error_of([&] { rows.pack(mine); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([&] { (void)packed.elements<float>(); })->code() == ps::Errc::schema_mismatch);
  CHECK(says(refusal([&] { (void)(*b)["text"]; }), "batch.ragged"));
  CHECK(says(refusal([&] { (void)b->ragged("y"); }), "not ragged"));
  CHECK(says(refusal([&] { (void)b->lengths("y"); }), "neither ragged nor padded"));
}

TEST_CASE("padding makes rows equally long, to a size or to the batch's longest") {
  const ps::Pipeline p = texts();
  ps::Loader fixed(p | ps::pad("text", {.to = 6, .value = 77}) | ps::batch(4), {.threads = 2});
  auto b = fixed.next();
  REQUIRE(b);
  const auto t = b->view<std::uint32_t, 2>("text");
  REQUIRE(t.extent(0) == 4);
  REQUIRE(t.extent(1) == 6);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 6; ++i) CHECK(t(r, i) == (i < r ? r : 77));
  CHECK(b->lengths("text")[3] == 3);

  ps::Loader longest(p | ps::pad("text") | ps::batch(3, {.tail = ps::Tail::pad}), {.threads = 2});
  const std::int64_t widths[] = {2, 4, 3, 4};  // of 0 1 2, 3 4 0, 1 2 3, 4 - -
  int n = 0;
  for (const ps::Batch& batch : longest.epoch()) {
    CHECK(batch["text"].shape == ps::Shape{3, widths[n]});
    ++n;
  }
  CHECK(n == 4);
}

TEST_CASE("a row that is too long for its padding is a bad sample, unless a filter leaves it out first") {
  const ps::Pipeline p = texts() | ps::pad("text", {.to = 3});
  ps::Loader loader(p | ps::batch(2), {.threads = 1});
  REQUIRE(loader.next());
  REQUIRE(loader.next());
  const auto error = error_of([&] { (void)loader.next(); });  // record 4
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::limit_exceeded);
  CHECK(error->stage() == "pad(text)");
  CHECK(error->index() == 4u);
  CHECK(says(error->what(), "padded to 3"));
  const ps::Pipeline kept =
      p | ps::filter("text", [](ps::View<const std::uint32_t, 1> text) { return text.extent(0) <= 3; }) |
      ps::batch(100);
  CHECK(collect(kept, {.threads = 2})[0].indices.size() == 8);
}

TEST_CASE("what can't be put together is refused when the pipeline is built") {
  const auto joined = [](auto stage) { return [stage] { (void)(texts() | stage | ps::batch(2)); }; };
  CHECK(says(refusal(joined(ps::ragged("image"))), "no field \"image\""));
  CHECK(says(refusal(joined(ps::ragged("y"))), "a scalar"));
  CHECK(says(refusal(joined(ps::pad("y"))), "a scalar"));
  CHECK(says(refusal(joined(ps::pad("text", {.value = -1}))), "is no u32"));
  CHECK(says(refusal(joined(ps::pad("text", {.value = 0.5}))), "is no u32"));
  CHECK(says(refusal(joined(ps::pad("text", {.value = 4294967296.0}))), "is no u32"));
  CHECK(refusal(joined(ps::pad("text", {.value = 4294967295.0}))) == "nothing");
  const auto floats = [](double value) {
    return [value] {
      (void)(ps::from(Records{.count = 4}) | ps::map("x", [](ps::View<const std::uint32_t, 1>, ps::View<float, 1>) {}) |
             ps::pad("x", {.to = 9, .value = value}));
    };
  };
  CHECK(says(refusal(floats(1e300)), "is no f32"));
  CHECK(says(refusal(floats(16777217)), "is no f32"));
  CHECK(refusal(floats(-1.5)) == "nothing");
  CHECK(says(refusal([] { (void)ps::pad("text", {.to = -1}); }), "-1"));
  CHECK(says(refusal([] { (void)(texts() | ps::ragged("text") | ps::pad("text")); }), "said already"));
  CHECK(says(refusal(joined(ps::bucket("text", {.window = 3}))), "text"));  // text itself is not said
  const ps::Pipeline p = texts() | ps::ragged("text");
  CHECK(says(refusal([&] { (void)(p | ps::bucket("text", {.window = 3}) | ps::batch(2)); }), "a multiple"));
  CHECK(says(refusal([&] { (void)(p | ps::bucket("text", {.window = 70'000})); }), "65535"));
  CHECK(says(refusal([&] { (void)(p | ps::bucket("nothing")); }), "no field"));
  CHECK(says(refusal([] { (void)ps::batch(2, {.max_tokens = 2}); }), "belong together"));
  CHECK(says(refusal([] { (void)ps::batch(2, {.tail = ps::Tail::pad, .max_bytes = 2}); }), "`.tail` as keep"));
  CHECK(says(refusal([&] { (void)(p | ps::batch(2, {.max_bytes = 7})); }), "a row has 8 bytes"));
  CHECK(says(refusal([&] { (void)(p | ps::batch(2, {.tokens = "y", .max_tokens = 2})); }), "a scalar"));
  CHECK(says(refusal([&] { (void)(p | ps::batch(2) | ps::ragged("y")); }), "before batch"));
  CHECK(says(refusal([&] { (void)(p | ps::bucket("text") | ps::batch(2)).steps_per_epoch(); }), "only after it"));
}

TEST_CASE("bounds of fields of fixed size are known before, and cost nothing") {
  const ps::Pipeline p = ps::from(Records{.count = 10}) | ps::batch(100, {.max_bytes = 3 * 24 + 23});
  CHECK(p.batch_size() == 3);
  CHECK(p.steps_per_epoch() == 4);  // not reordered
  CHECK((ps::from(Records{.count = 10, .width = 5}) | ps::batch(100, {.tokens = "x", .max_tokens = 12})).batch_size() ==
        2);
  CHECK((texts() | ps::pad("text", {.to = 6}) | ps::batch(100, {.tokens = "text", .max_tokens = 25})).batch_size() ==
        4);
}

TEST_CASE("a batch that is bounded by tokens or bytes ends before the sample that is too much") {
  // Lengths 0 1 2 3 4 0 1 2 3 4.
  const auto sizes = [](const ps::Pipeline& p) {
    std::vector<std::size_t> out;
    for (const Got& got : collect(p, {.threads = 3})) out.push_back(got.indices.size());
    return out;
  };
  const ps::BatchOptions tokens{.tokens = "text", .max_tokens = 6};
  CHECK(sizes(texts() | ps::ragged("text") | ps::batch(100, tokens)) == std::vector<std::size_t>{4, 3, 2, 1});
  CHECK(sizes(texts() | ps::ragged("text") | ps::batch(3, tokens)) == std::vector<std::size_t>{3, 1, 3, 2, 1});
  CHECK(sizes(texts() | ps::pad("text") | ps::batch(100, tokens)) == std::vector<std::size_t>{3, 1, 1, 3, 1, 1});
  CHECK(sizes(texts() | ps::ragged("text") | ps::batch(100, {.max_bytes = 4 * 8 + 24})) ==
        std::vector<std::size_t>{4, 3, 2, 1});
  ps::Loader loader(texts() | ps::ragged("text") | ps::batch(100, {.tokens = "text", .max_tokens = 3}), {.threads = 1});
  REQUIRE(loader.next());
  const auto error = error_of([&] {
    while (loader.next()) {
    }
  });
  REQUIRE(error);
  CHECK(error->index() == 4u);
  CHECK(says(error->what(), "`max_tokens` = 3"));
}

TEST_CASE("what is dropped after the last sample of a bounded batch is told once, also after a resume") {
  const Watchdog dog(60s);
  struct Fails {
    void operator()(ps::Sample&, ps::Context& context) const {
      if (context.index() % 3 == 2) throw ps::Error(ps::Errc::corrupt, "planted");
    }
  };
  const ps::Pipeline p = texts(90) | Fails{} | ps::ragged("text") | ps::on_error({.policy = ps::OnError::drop}) |
                         ps::batch(100, {.tokens = "text", .max_tokens = 6});
  const std::vector<Got> all = collect(p, {.threads = 2});
  ps::Loader loader(p, {.threads = 2});
  for (std::size_t s = 0; s < all.size(); ++s) {
    ps::Loader rest(p, {.threads = 1});
    rest.resume(loader.state());
    for (std::size_t i = s; i < all.size(); ++i) REQUIRE(copy(*rest.next()) == all[i]);
    CHECK_FALSE(rest.next());
    CHECK(rest.state().replaced == 30);
    REQUIRE(loader.next());
  }
}

TEST_CASE("buckets put samples of like length together, in an order of batches that each epoch draws anew") {
  const Watchdog dog(60s);
  Texts source{.count = 1000, .length = [](std::uint64_t i) { return static_cast<std::int64_t>(mix(i) % 50); }};
  const ps::Pipeline plain = ps::from(source) | ps::seed(5) | ps::pad("text");
  const ps::Pipeline p = plain | ps::bucket("text", {.window = 200}) | ps::batch(20);
  const auto padding = [](const ps::Pipeline& q) {
    ps::Loader loader(q, {.threads = 2});
    std::int64_t all = 0, used = 0;
    for (const ps::Batch& b : loader.epoch()) {
      all += b["text"].shape[0] * b["text"].shape[1];
      used = std::accumulate(b.lengths("text").begin(), b.lengths("text").end(), used);
    }
    return static_cast<double>(all - used) / static_cast<double>(all);
  };
  CHECK(padding(plain | ps::batch(20)) > 0.4);
  CHECK(padding(p) < 0.15);
  const std::vector<Got> got = collect(p, {.threads = 3}, 2);
  REQUIRE(got.size() == 100);
  for (int window = 0; window < 10; ++window) {
    std::vector<std::uint64_t> indices;
    for (int b = 0; b < 10; ++b) {
      const Got& batch = got[static_cast<std::size_t>(window * 10 + b)];
      indices.insert(indices.end(), batch.indices.begin(), batch.indices.end());
    }
    std::ranges::sort(indices);
    for (std::uint64_t i = 0; i < 200; ++i) CHECK(indices[i] == static_cast<std::uint64_t>(window % 5) * 200 + i);
  }
  const auto first = [&](std::size_t batch) { return got[batch].indices; };
  std::size_t same = 0, ascending = 0;
  for (std::size_t b = 0; b < 50; ++b) same += first(b) == first(b + 50);
  for (std::size_t b = 1; b < 10; ++b) ascending += mix(first(b)[0]) % 50 >= mix(first(b - 1)[0]) % 50;
  CHECK(same < 15);
  CHECK(ascending < 9);
}

TEST_CASE("a resume in the middle of a window goes on with the same batches, and counts nothing twice") {
  const Watchdog dog(60s);
  Records source{.count = 97};
  for (std::uint64_t i = 0; i < 97; i += 9) source.shared->faults[i] = Fault::corrupt;
  const ps::Pipeline p = ps::from(source) | ps::seed(2) | ps::shuffle() | AddDraw{} |
                         ps::on_error({.policy = ps::OnError::drop, .max_count = 22}) |
                         ps::bucket("y", {.window = 24}) | ps::batch(4);
  const std::vector<Got> all = collect(p, {.threads = 3}, 2);
  ps::Loader loader(p, {.threads = 2});
  std::vector<ps::State> states{loader.state()};
  bool inside = false;
  for (std::size_t i = 0; i < all.size();) {
    auto b = loader.next();
    if (!b) continue;
    REQUIRE(copy(*b) == all[i++]);
    states.push_back(loader.state());
    inside = inside || states.back().window_batches != 0;
  }
  while (loader.next()) {
  }
  const std::uint32_t acted = loader.state().replaced;
  CHECK(acted == 22);
  CHECK(inside);
  for (std::size_t s = 0; s < states.size(); s += 3) {
    ps::Loader rest(p, {.threads = 1 + static_cast<unsigned>(s % 3), .depth = 2});
    rest.resume(states[s]);
    for (std::size_t i = s; i < all.size();)
      if (auto b = rest.next()) REQUIRE(copy(*b) == all[i++]);
    while (rest.next()) {
    }
    CHECK(rest.state().replaced == acted);
  }
  // A part belongs to buckets alone.
  ps::Loader other(ps::from(Records{.count = 10}) | even() | ps::batch(2), {.threads = 1});
  ps::State state = other.state();
  CHECK(state.window_batches == 0);
}

TEST_CASE("a failure inside a window comes before all of its batches") {
  Records source{.count = 40};
  source.shared->faults[29] = Fault::corrupt;
  ps::Loader loader(ps::from(source) | ps::bucket("y", {.window = 12}) | ps::batch(4), {.threads = 2});
  for (int i = 0; i < 6; ++i) REQUIRE(loader.next());
  const ps::State before = loader.state();
  CHECK(before.position == 24);
  CHECK(error_of([&] { (void)loader.next(); })->index() == 29u);
  CHECK(loader.state() == before);
}

TEST_CASE("a ring that is warm allocates nothing for fields of any size") {
  ps::testing::StatisticsResource memory(ps::host_memory());
  {
    Texts source{.count = 600, .length = [](std::uint64_t i) { return static_cast<std::int64_t>(1500 + i % 2); }};
    ps::Loader loader(ps::from(source) | ps::pad("text") | ps::batch(60), {.threads = 2, .host_memory = &memory});
    for (int e = 0; e < 5; ++e) (void)collect(loader);
    const std::uint64_t warm = memory.allocations();
    for (int e = 0; e < 10; ++e) (void)collect(loader);
    CHECK(memory.allocations() == warm);
    const ps::Report report = loader.report();
    CHECK(report.memory[0].bytes_each > 60 * 1000 * 4);
    CHECK(report.batch_allocations == 1);
  }
  CHECK(memory.used() == 0);
}

TEST_CASE("a budget bounds fields of any size, and a batch that needs more says so at any number of threads") {
  Texts source{.count = 64, .length = [](std::uint64_t i) { return i < 48 ? 100 : 600'000; }};
  for (const bool reordered : {false, true})
    for (const unsigned threads : {1u, 3u}) {
      ps::Pipeline p = ps::from(source);
      if (reordered) p = p | ps::filter([](const ps::Sample&) { return true; });
      ps::Loader loader(p | ps::ragged("text") | ps::batch(16),
                        {.threads = threads, .max_memory_bytes = ps::MiB(48), .depth = 2});
      for (int i = 0; i < 3; ++i) REQUIRE(loader.next());
      const auto error = error_of([&] { (void)loader.next(); });
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::out_of_memory);
      CHECK(says(error->what(), "`max_memory_bytes`"));
    }
}

TEST_CASE("the plan says what becomes of fields of any size") {
  const std::string plan =
      (texts() | ps::pad("text", {.to = 9}) | ps::bucket("text", {.window = 64}) | ps::batch(8)).plan();
  CHECK(says(plan, "text is padded to 9"));
  CHECK(says(plan, "of 64 consecutive samples"));
  const std::string bounded =
      (texts() | ps::ragged("text") | ps::batch(8, {.max_bytes = 1000, .tokens = "text", .max_tokens = 50})).plan();
  CHECK(says(bounded, "text is ragged"));
  CHECK(says(bounded, "at most 50 elements of text"));
  CHECK(says(bounded, "at most 1000 bytes"));
}

TEST_CASE("what is said about batching is in the fingerprint, where it changes a batch") {
  const ps::Pipeline p = texts();
  const ps::BatchOptions bytes{.max_bytes = 1000}, tokens{.tokens = "text", .max_tokens = 90};
  std::vector<std::uint64_t> prints;
  for (const ps::Stage& stage : {ps::ragged("text"), ps::pad("text"), ps::pad("text", {.value = 1})})
    for (const ps::BatchOptions& options : {ps::BatchOptions{}, bytes, tokens})
      prints.push_back((p | stage | ps::batch(4, options)).fingerprint());
  prints.push_back((p | ps::pad("text", {.to = 9}) | ps::batch(4)).fingerprint());
  prints.push_back((p | ps::ragged("text") | ps::bucket("text", {.window = 8}) | ps::batch(4)).fingerprint());
  prints.push_back((p | ps::ragged("text") | ps::bucket("text", {.window = 12}) | ps::batch(4)).fingerprint());
  prints.push_back((p | ps::ragged("text") | ps::bucket("y", {.window = 12}) | ps::batch(4)).fingerprint());
  std::ranges::sort(prints);
  CHECK(std::ranges::adjacent_find(prints) == prints.end());
  const ps::Pipeline padded = p | ps::pad("text", {.to = 9});
  CHECK((padded | ps::batch(4, bytes)).fingerprint() == (padded | ps::batch(4, tokens)).fingerprint());
}
