// SPDX-License-Identifier: Apache-2.0
// A saved state brings back exactly what was left, whoever continues.
#include "support/catch.hpp"

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

struct Shape {
  const char* name;
  ps::Pipeline pipeline;
};

std::vector<Shape> shapes() {
  const auto faulty = [](std::uint64_t n) {
    Records r{.count = n};
    for (std::uint64_t i = 2; i < n; i += 7) r.shared->faults[i] = Fault::corrupt;
    return r;
  };
  const ps::Pipeline base = ps::from(Records{.count = 37}) | ps::shuffle({.seed = 3}) | AddDraw{};
  return {
      {"keep", base | ps::batch(5)},
      {"drop", base | ps::batch(5, {.tail = ps::Tail::drop})},
      {"pad", base | ps::batch(5, {.tail = ps::Tail::pad})},
      {"whole", ps::from(Records{.count = 40}) | ps::shuffle() | AddDraw{} | ps::batch(8)},
      {"one row", ps::from(Records{.count = 9}) | ps::shuffle() | AddDraw{} | ps::batch(1)},
      {"one batch", ps::from(Records{.count = 9}) | ps::shuffle() | AddDraw{} | ps::batch(64)},
      {"repeat",
       ps::from(Records{.count = 11}) | ps::shuffle() | ps::repeat(3) | ps::skip(2) | AddDraw{} | ps::batch(4)},
      {"split", ps::from(Records{.count = 60}) | ps::split({.shares = {0.6, 0.4}, .part = 1}) | ps::shuffle() |
                    AddDraw{} | ps::batch(5)},
      {"blocks", ps::from(Records{.count = 61}) | ps::shuffle({.blocks = true, .window_blocks = 3, .block_size = 4}) |
                     AddDraw{} | ps::batch(7)},
      {"weighted", ps::from(Records{.count = 5}) | ps::draw_weighted({.weights = {1, 0, 2, 3, 4}, .count = 33}) |
                       AddDraw{} | ps::batch(4)},
      {"distinct", ps::from(Records{.count = 6}) |
                       ps::draw_weighted({.weights = {1, 0, 2, 3, 4, 1}, .replacement = false}) | ps::repeat(4) |
                       AddDraw{} | ps::batch(3)},
      {"balanced", ps::from(Records{.count = 7}) | ps::draw_balanced({.labels = {1, 1, 2, 1, 1, 3, 2}, .count = 40}) |
                       AddDraw{} | ps::batch(6)},
      {"mix", ps::mix({{Records{.count = 20}, 0.7}, {Records{.count = 9}, 0.3}}) | AddDraw{} | ps::batch(4)},
      {"joined", ps::from(ps::concat(Records{.count = 20}, ps::interleave(Records{.count = 9}, Records{.count = 4}))) |
                     ps::shuffle() | AddDraw{} | ps::batch(4)},
      {"replaced in a mix", ps::mix({{faulty(20), 1}, {Records{.count = 9}, 2}}, {.count = 41}) | AddDraw{} |
                                ps::on_error({.policy = ps::OnError::replace}) | ps::batch(5)},
      {"replace", ps::from(faulty(37)) | ps::shuffle() | AddDraw{} | ps::on_error({.policy = ps::OnError::replace}) |
                      ps::batch(5)},
      {"mask", ps::from(faulty(37)) | ps::shuffle() | AddDraw{} | ps::on_error({.policy = ps::OnError::mask}) |
                   ps::batch(5, {.tail = ps::Tail::pad})},
  };
}

}  // namespace

TEST_CASE("a run goes on from any of its steps, at other threads and depths") {
  const Watchdog dog(180s);
  constexpr std::uint64_t epochs = 3;
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    // The run in one go, with the state after each batch.
    ps::Loader whole(shape.pipeline, {.threads = 2});
    std::vector<Got> expected;
    std::vector<ps::State> states{whole.state()};
    for (std::uint64_t e = 0; e < epochs; ++e)
      for (ps::Batch& b : whole.epoch()) {
        expected.push_back(copy(b));
        states.push_back(whole.state());
      }
    const std::uint64_t steps = shape.pipeline.steps_per_epoch();
    REQUIRE(expected.size() == epochs * steps);
    for (std::size_t k = 0; k < states.size(); k += scale() < 1 ? 3 : 1) {
      CAPTURE(k);
      ps::Loader rest(shape.pipeline,
                      {.threads = 1 + static_cast<unsigned>(k % 4), .depth = 2 + static_cast<unsigned>(k % 3)});
      rest.resume(states[k]);
      CHECK(rest.state() == states[k]);
      std::vector<Got> got;
      std::size_t at = k;
      while (rest.epoch_number() < epochs) {
        for (ps::Batch& b : rest.epoch()) {
          got.push_back(copy(b));
          ++at;
          // The state after each batch is bit for bit that of the uninterrupted run.
          REQUIRE(rest.state() == states[at]);
        }
      }
      REQUIRE(got.size() == expected.size() - k);
      for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected[k + i]);
    }
  }
}

TEST_CASE("a loader can be resumed again and again, also in the middle of its work") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 60}) | ps::shuffle() | AddDraw{} | ps::batch(4);
  const auto expected = collect(p, {.threads = 2}, 2);
  ps::Loader loader(p, {.threads = 3, .depth = 4});
  std::vector<ps::State> states;
  for (int i = 0; i < 30; ++i) {
    states.push_back(loader.state());
    auto b = loader.next();
    if (!b) b = loader.next();  // the end of an epoch, once
    REQUIRE(b);
  }
  for (std::uint64_t t = 0; t < 200; ++t) {
    const std::size_t k = mix(t) % 30;
    loader.resume(states[k]);
    for (std::size_t i = k; i < std::min<std::size_t>(k + mix(t + 1000) % 5, 30); ++i) {
      auto b = loader.next();
      if (!b) b = loader.next();
      REQUIRE(b);
      REQUIRE(copy(*b) == expected[i]);
    }
  }
}

TEST_CASE("a resume after a break goes on after the last batch delivered") {
  const ps::Pipeline p = ps::from(Records{.count = 60}) | ps::shuffle() | AddDraw{} | ps::batch(4);
  const auto expected = collect(p, {.threads = 2}, 3);
  ps::Loader loader(p, {.threads = 2});
  std::uint64_t n = 0;
  for (ps::Batch& b : loader.epoch()) {
    (void)b;
    if (++n == 6) break;
  }
  const ps::State state = loader.state();
  CHECK(state.epoch == 0);
  CHECK(state.position == 24);
  CHECK(state.step == 6);
  // Without a resume the next epoch() is the next epoch.
  CHECK(collect(loader) == std::vector<Got>(expected.begin() + 15, expected.begin() + 30));
  ps::Loader other(p, {.threads = 1});
  other.resume(state);
  CHECK(collect(other) == std::vector<Got>(expected.begin() + 6, expected.begin() + 15));
  CHECK(collect(other) == std::vector<Got>(expected.begin() + 15, expected.begin() + 30));
}

TEST_CASE("what becomes of the last batch") {
  const auto got = [](std::uint64_t n, ps::Tail tail) {
    return collect(ps::from(Records{.count = n}) | ps::batch(4, {.tail = tail}), {.threads = 2});
  };
  const auto keep = got(10, ps::Tail::keep), drop = got(10, ps::Tail::drop), pad = got(10, ps::Tail::pad);
  REQUIRE(keep.size() == 3);
  CHECK(keep[2].indices == std::vector<std::uint64_t>{8, 9});
  CHECK(keep[2].mask == std::vector<std::uint8_t>{1, 1});
  CHECK(keep[2].bytes.size() == 2 * 24);
  REQUIRE(drop.size() == 2);
  CHECK(drop[1] == keep[1]);
  REQUIRE(pad.size() == 3);
  const std::uint64_t none = ~std::uint64_t{0};
  CHECK(pad[2].indices == std::vector<std::uint64_t>{8, 9, none, none});
  CHECK(pad[2].mask == std::vector<std::uint8_t>{1, 1, 0, 0});
  REQUIRE(pad[2].bytes.size() == 4 * 24);
  for (std::size_t i = 0; i < 64; ++i) CHECK((static_cast<int>(pad[2].bytes[i]) == 0 || i < 32));
  for (const std::size_t i : {80u, 81u, 88u, 95u}) CHECK(static_cast<int>(pad[2].bytes[i]) == 0);
  for (const ps::Tail tail : {ps::Tail::keep, ps::Tail::drop, ps::Tail::pad}) {
    CHECK(got(8, tail).size() == 2);
    CHECK(error_of([&] { got(0, tail); }));  // no batch can ever come
  }
  CHECK(error_of([&] { got(3, ps::Tail::drop); }));
  CHECK(got(3, ps::Tail::pad)[0].indices.size() == 4);
}

TEST_CASE("padding is zeros though the buffer held other rows before") {
  const ps::Pipeline p = ps::from(Records{.count = 10}) | AddDraw{} | ps::batch(4, {.tail = ps::Tail::pad});
  ps::Loader loader(p, {.threads = 1, .depth = 2});
  for (int epoch = 0; epoch < 6; ++epoch)
    for (ps::Batch& b : loader.epoch()) {
      CHECK(b.size() == 4);
      for (std::uint64_t row = 0; row < 4; ++row) {
        const bool real = b.number() < 2 || row < 2;
        CHECK(b.mask()[row] == (real ? 1 : 0));
        CHECK((b.view<std::int64_t, 1>("y")(row) == (real ? static_cast<std::int64_t>(b.indices()[row]) : 0)));
        if (!real)
          for (int j = 0; j < 4; ++j) CHECK(b.view<std::uint32_t, 2>("x")(row, j) == 0);
      }
    }
}

TEST_CASE("epochs without batches end at once, and their states resume") {
  const Watchdog dog(30s);
  for (const std::int64_t n : {0, 3}) {
    const ps::Pipeline p = ps::from(Records{.count = 20}) |
                           ps::filter("y", [n](ps::View<const std::int64_t, 0> y) { return y() < n; }) |
                           ps::batch(4, {.tail = ps::Tail::drop});
    ps::Loader loader(p, {.threads = 1});
    for (int i = 0; i < 3; ++i) CHECK(collect(loader).empty());
    CHECK_FALSE(loader.next());
    const ps::State state = loader.state();
    loader.resume(state);
    CHECK(loader.state() == state);
    CHECK(collect(loader).empty());
  }
}

TEST_CASE("with a last epoch nothing is read after it") {
  Records source{.count = 40};
  ps::Loader loader(ps::from(source) | ps::batch(4), {.threads = 2, .depth = 8, .epochs = 2});
  CHECK(collect(loader, 2).size() == 20);
  std::this_thread::sleep_for(20ms);
  CHECK(source.shared->reads == 80);
  CHECK_FALSE(loader.next());
  CHECK(collect(loader).empty());
}

}  // namespace PENSTOCK_TEST_FILE
