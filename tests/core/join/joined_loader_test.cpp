// SPDX-License-Identifier: Apache-2.0
// Sources made of sources, run by loaders: what their parts are told, and when.
#include "support/catch.hpp"

#include "core/help.hpp"

using namespace help;

namespace {

struct Seen {
  std::atomic<int> opened{0}, reads{0}, expected{0}, beyond{0}, pauses{0};
};

// Its readers count what happens to them.
struct Counted {
  std::uint64_t count = 0;
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();

  struct Reader {
    std::shared_ptr<Seen> seen;
    std::uint64_t count;
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      ++seen->reads;
      if (i >= count) ++seen->beyond;
      out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
    }
    void expect(std::span<const std::uint64_t> indices) noexcept {
      seen->expected += static_cast<int>(indices.size());
      for (const std::uint64_t i : indices)
        if (i >= count) ++seen->beyond;
    }
    void pause() noexcept { ++seen->pauses; }
  };
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"n", ps::DType::i64, {}}}; }
  std::unique_ptr<Reader> open_reader() const {
    ++seen->opened;
    return std::make_unique<Reader>(Reader{seen, count});
  }
};

}  // namespace

TEST_CASE("readers of parts are opened when they are needed, expect what comes, and rest") {
  const Watchdog dog(60s);
  for (const bool zipped : {false, true}) {
    CAPTURE(zipped);
    const Counted a{.count = 4000}, b{.count = 4000}, unused{.count = 4000};
    const ps::Pipeline p = zipped ? ps::from(ps::zip({a, {b, "b_"}}))
                                  : ps::from(ps::concat(a, b, unused)) | ps::take(8000) | ps::shuffle();
    {
      ps::Loader loader(p | ps::batch(32), {.threads = 2});
      // Where the runners are slow to come, the caller makes whole epochs, one sample at a time.
      for (int epoch = 0; epoch < 2 || ((a.seen->expected == 0 || b.seen->expected == 0) && epoch < 1000); ++epoch)
        CHECK(collect(loader).size() == (zipped ? 125 : 250));
    }
    for (const Counted& part : {a, b}) {
      CHECK(part.seen->reads >= 8000);
      CHECK(part.seen->beyond == 0);
      CHECK(part.seen->opened >= 1);
      CHECK(part.seen->opened <= 3);  // a runner each, and the caller
      CHECK(part.seen->expected > 0);
      CHECK(part.seen->pauses > 0);
    }
    CHECK(unused.seen->opened == 0);
  }
}

TEST_CASE("parts are advised of their own records only, each once an epoch") {
  const Watchdog dog(60s);
  AdvisedRecords a, b;
  a.count = 100;
  b.count = 60;
  const Records quiet{.count = 40};
  const auto check = [](const AdvisedRecords& part, std::uint64_t times) {
    const std::lock_guard lock(part.shared->mutex);
    CHECK(part.shared->advice.size() == part.count);
    for (const auto& [index, count] : part.shared->advice) {
      REQUIRE(index < part.count);
      REQUIRE(count == times);
    }
  };
  (void)collect(ps::from(ps::concat(a, quiet, b)) | ps::shuffle() | ps::batch(7), {.threads = 2, .epochs = 1});
  check(a, 1);
  check(b, 1);
  (void)collect(ps::from(ps::interleave(a, b)) | ps::shuffle() | ps::batch(7), {.threads = 2, .epochs = 1});
  check(a, 2);
  check(b, 2);
  AdvisedRecords c;
  c.count = 100;
  (void)collect(ps::from(ps::zip({a, {c, "c_"}})) | ps::batch(7), {.threads = 2, .epochs = 1});
  check(a, 3);
  check(c, 1);
}

TEST_CASE("zipped fields are written straight into the batch") {
  const Watchdog dog(60s);
  ps::Loader loader(ps::from(ps::zip({Records{.count = 50}, {Records{.count = 50, .width = 9}, "b_"}})) | ps::batch(8),
                    {.threads = 2, .epochs = 1});
  for (ps::Batch& batch : loader.epoch())
    for (std::uint64_t row = 0; row < batch.size(); ++row) {
      const std::uint64_t i = batch.indices()[row];
      REQUIRE(batch.view<std::uint32_t, 2>("x")(row, 3) == x_of(i, 3));
      REQUIRE(batch.view<std::uint32_t, 2>("b_x")(row, 8) == x_of(i, 8));
      REQUIRE(batch.view<std::int64_t, 1>("b_y")(row) == static_cast<std::int64_t>(i));
    }
  CHECK(loader.report().copied_bytes == 0);
}

TEST_CASE("joined sources give the same batches at any thread count") {
  const Watchdog dog(60s);
  const Records a{.count = 90}, b{.count = 31, .salt = 1};
  for (const ps::Pipeline& p :
       {ps::from(ps::concat(a, b)) | ps::shuffle(), ps::from(ps::interleave(a, b, {.block = 3})) | ps::shuffle(),
        ps::from(ps::zip({a, {ps::concat(b, ps::share(b), ps::share(Records{.count = 28})), "b_"}},
                         {.by = ps::PairBy::position})) |
            ps::shuffle(),
        ps::mix({{a, 2}, {b, 1}}, {.count = 100})}) {
    const ps::Pipeline batches = p | AddDraw{} | ps::batch(8);
    const auto one = collect(batches, {.threads = 1}, 3);
    CHECK(collect(batches, {.threads = 3, .depth = 5}, 3) == one);
  }
}

TEST_CASE("bad records of a part are replaced, and reported by the part's names") {
  const Watchdog dog(60s);
  Records a{.count = 60}, b{.count = 40};
  b.shared->faults[7] = Fault::corrupt;
  const ps::Pipeline p = ps::from(ps::concat(a, b)) | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(10);
  ps::Loader loader(p, {.threads = 2, .epochs = 1});
  std::uint64_t rows = 0;
  for (ps::Batch& batch : loader.epoch()) rows += batch.size();
  CHECK(rows == 100);
  const auto error = error_of([&] { (void)collect(ps::from(ps::concat(a, b)) | ps::batch(10), {.threads = 2}); });
  REQUIRE(error);
  CHECK(error->key() == "key-7");
  CHECK(error->index() == 67);
  CHECK(error->offset() == 17);
}
