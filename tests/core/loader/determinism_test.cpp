// SPDX-License-Identifier: Apache-2.0
// Batches are the same at any number of threads, any depth, any timing.
#include "support/catch.hpp"

#include <cstring>

#include "core/help.hpp"

using namespace help;

namespace {

// Lets every runner meet all others before it goes on, then sleeps at random: so many really run, and never in order.
struct Disturb {
  std::shared_ptr<Meeting> meeting;
  std::uint64_t salt = 0;
  void operator()(ps::Sample&, ps::Context& context) const {
    if (meeting) meeting->attend();
    const std::uint64_t r =
        mix(context.place().position * 31 + salt +
            static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    if (r % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(r / 16 % 1000));
  }
  std::string name() const { return "disturb"; }
};

struct Reshape {
  ps::Schema schema(const ps::Schema& in) const {
    return in.with({"x", ps::DType::u32, {6}}).with({"draw", ps::DType::f64, {}});
  }
  std::string name() const { return "reshape"; }
  void operator()(ps::Sample& s, ps::Context& context) const {
    const auto old = s.view<const std::uint32_t, 1>("x");
    auto x = s.emplace<std::uint32_t, 1>("x", {6});
    for (int i = 0; i < 6; ++i) x(i) = old(3 - i % 4);
    *s.emplace<double, 0>("draw", {}).data() = context.rng().uniform();
  }
};

ps::Pipeline build(std::shared_ptr<Meeting> meeting, std::uint64_t salt, ps::OnError policy = ps::OnError::fail) {
  Records source{.count = 203};
  if (policy != ps::OnError::fail)
    for (std::uint64_t i = 0; i < 203; i += 9) source.shared->faults[i] = i % 2 == 0 ? Fault::corrupt : Fault::standard;
  // The disturbance stands first, so that its draws and name touch nothing after it.
  return ps::from(source) | ps::shuffle({.seed = 11}) | ps::repeat(2) | Disturb{std::move(meeting), salt} | AddDraw{} |
         Reshape{} | ps::on_error({.policy = policy}) | ps::batch(16, {.tail = ps::Tail::pad});
}

}  // namespace

TEST_CASE("batches are the same at 1, 2, 5 and 16 threads, all of them seen alive") {
  const Watchdog dog(120s);
  for (const ps::OnError policy : {ps::OnError::fail, ps::OnError::replace, ps::OnError::mask}) {
    const auto expected = collect(build(nullptr, 0, policy), {.threads = 1, .depth = 2}, 2);
    REQUIRE(expected.size() == 2 * 26);
    for (const unsigned threads : {1u, 2u, 5u, 16u}) {
      const auto meeting = std::make_shared<Meeting>(threads);
      ps::Loader loader(build(meeting, threads, policy), {.threads = threads, .depth = 3});
      const auto got = collect(loader, 2);
      CAPTURE(static_cast<int>(policy), threads);
      CHECK(meeting->complete());
      CHECK(loader.report().threads_seen >= threads);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected[i]);
    }
  }
}

TEST_CASE("batches are the same at any depth, in any memory") {
  const Watchdog dog(60s);
  const auto expected = collect(build(nullptr, 1), {.threads = 1, .depth = 2});
  for (const unsigned depth : {2u, 3u, 8u, 40u})
    CHECK(collect(build(nullptr, depth), {.threads = 3, .depth = depth}) == expected);
  CHECK(collect(build(nullptr, 5), {.threads = 3, .max_memory_bytes = ps::MiB(5)}) == expected);
}

TEST_CASE("two runs of one loader's epochs are those of two loaders") {
  ps::Loader loader(build(nullptr, 2), {.threads = 2});
  const auto both = collect(loader, 2);
  ps::Loader again(build(nullptr, 3), {.threads = 5});
  const auto first = collect(again);
  const auto second = collect(again);
  CHECK(std::vector<Got>(both.begin(), both.begin() + 26) == first);
  CHECK(std::vector<Got>(both.begin() + 26, both.end()) == second);
  CHECK_FALSE(first[0].bytes == second[0].bytes);  // draws are keyed by epoch
}

TEST_CASE("batches bring what the sequential run of their samples gives") {
  // No loader here: each sample alone, by at(), which knows neither buffers nor threads.
  const ps::Pipeline p = build(nullptr, 4);
  ps::Loader loader(p, {.threads = 4});
  std::uint64_t position = 0;
  for (ps::Batch& b : loader.epoch()) {
    for (std::uint64_t row = 0; row < b.size(); ++row) {
      if (b.mask()[row] == 0) continue;
      const ps::OwnedSample sample = p.at(position);
      for (const ps::Field& f : p.schema()) {
        const ps::TensorView whole = b[f.name], one = sample[f.name];
        REQUIRE(std::memcmp(whole.data + row * one.bytes(), one.data, one.bytes()) == 0);
      }
      std::uint64_t index = 0;
      p.fill(0, position, {&index, 1});
      CHECK(b.indices()[row] == index);
      ++position;
    }
  }
  CHECK(position == p.size());
}

TEST_CASE("two loaders on one executor bring what each brings alone") {
  const Watchdog dog(120s);
  const ps::Pipeline a = build(nullptr, 6);
  const ps::Pipeline b = ps::from(Records{.count = 90, .width = 7}) | ps::shuffle({.seed = 2}) | Disturb{nullptr, 9} |
                         AddDraw{} | ps::batch(7);
  const auto expected_a = collect(a, {.threads = 1}, 3), expected_b = collect(b, {.threads = 1}, 3);
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ps::Executor executor(threads);
    ps::Loader first(a, {.executor = executor}), second(b, {.executor = executor});
    std::vector<Got> got_b;
    std::jthread other([&] { got_b = collect(second, 3); });
    const auto got_a = collect(first, 3);
    other.join();
    CAPTURE(threads);
    CHECK(got_a == expected_a);
    CHECK(got_b == expected_b);
  }
}

TEST_CASE("a validation loader between the training epochs changes neither") {
  const Watchdog dog(60s);
  const ps::Pipeline train = build(nullptr, 7);
  const ps::Pipeline valid =
      ps::from(Records{.count = 50}) | ps::split({.shares = {0.5, 0.5}, .part = 1}) | AddDraw{} | ps::batch(8);
  const auto expected_train = collect(train, {.threads = 1}, 3), expected_valid = collect(valid, {.threads = 1}, 3);
  const ps::Executor executor(2);
  ps::Loader t(train, {.executor = executor}), v(valid, {.executor = executor});
  std::vector<Got> got_train, got_valid;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::uint64_t n = 0;
    for (ps::Batch& b : t.epoch()) {
      got_train.push_back(copy(b));
      // Validates in the middle of an epoch too, as trainers do.
      if (++n == 10)
        for (ps::Batch& w : v.epoch()) got_valid.push_back(copy(w));
    }
  }
  CHECK(got_train == expected_train);
  CHECK(got_valid == expected_valid);
}

TEST_CASE("rows of a batch are the caller's: writing to them changes no later batch") {
  const auto expected = collect(build(nullptr, 8), {.threads = 2}, 2);
  ps::Loader loader(build(nullptr, 8), {.threads = 2, .depth = 2});
  std::vector<Got> got;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (ps::Batch& b : loader.epoch()) {
      got.push_back(copy(b));
      for (const ps::Field& f : b.schema()) std::memset(b[f.name].data, 0xa5, b[f.name].bytes());
    }
  CHECK(got == expected);
}
