// SPDX-License-Identifier: Apache-2.0
// Epochs as loops see them: which one a range is of, what ends it, and what a state means that is saved on the way.
#include "support/catch.hpp"

#include <penstock/emulated_gpu.hpp>

#include "core/help.hpp"
#include "core/reorder/reordered_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

ps::Pipeline direct() { return ps::from(Records{.count = 22}) | ps::shuffle() | AddDraw{} | ps::batch(4); }

struct Kind {
  const char* name;
  ps::Pipeline pipeline;
};
std::vector<Kind> kinds() {
  const ps::Pipeline base = ps::from(Records{.count = 22}) | ps::shuffle() | AddDraw{};
  return {{"direct", direct()},
          {"filter", base | even() | ps::batch(3)},
          {"flat_map", base | Parts{} | ps::batch(5)},
          {"buckets", base | even() | ps::bucket("y", {.window = 4}) | ps::batch(2)},
          {"steps", base | ps::batch(4) | ps::for_rank({.steps_per_epoch = 5})},
          {"steps of survivors", base | even() | ps::batch(4) | ps::for_rank({.steps_per_epoch = 5})},
          {"stream", ps::from(Seeking{}) | ps::batch(3)}};
}

// What a loop would show next, as far as it is left; at most `most` batches.
std::vector<Got> rest_of(ps::EpochRange& epoch, std::size_t most = ~std::size_t{0}) {
  std::vector<Got> out;
  for (const ps::Batch& batch : epoch) {
    out.push_back(copy(batch));
    if (out.size() == most) break;
  }
  return out;
}

void ignore(const ps::EpochRange&) {}

}  // namespace

TEST_CASE("loops over one loader that are nested say so, and end") {
  const Watchdog dog(30s);
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    ps::Loader loader(kind.pipeline, {.threads = 2});
    int outer = 0, inner = 0;
    const auto error = error_of([&] {
      for (const ps::Batch& a : loader.epoch()) {
        CHECK(a.epoch() == 0);
        ++outer;
        for (const ps::Batch& b : loader.epoch()) {
          CHECK(b.epoch() == 1);
          ++inner;
        }
      }
    });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->cause().find("batches of epoch 0") != std::string::npos);
    CHECK(error->cause().find("a loader of its own") != std::string::npos);
    CHECK(outer == 1);
    CHECK(inner > 1);
    // The loader itself is where it was.
    CHECK(loader.epoch().number() == 2);
  }
}

TEST_CASE("a range whose epoch is no more the loader's throws, from wherever the other one came") {
  const Watchdog dog(30s);
  ps::Loader loader(direct(), {.threads = 2});
  ps::EpochRange first = loader.epoch();
  CHECK(rest_of(first, 2).size() == 2);
  const ps::State state = loader.state();
  ps::EpochRange second = loader.epoch();
  const auto stale = [](ps::EpochRange& range) {
    const auto error = error_of([&] { (void)range.begin(); });
    return error && error->code() == ps::Errc::invalid_argument;
  };
  CHECK(stale(first));
  CHECK(rest_of(second, 2).size() == 2);
  loader.resume(state);
  CHECK(stale(second));
  CHECK(stale(first));
  ps::EpochRange third = loader.epoch();
  CHECK(third.number() == 0);
  auto at = third.begin();
  CHECK((*at).number() == 2);
  for (int i = 0; i < 4; ++i) CHECK(loader.next().has_value() == (i < 3));  // to the end
  (void)loader.next();                                                      // of the next epoch
  const auto error = error_of([&] { ++at; });
  REQUIRE(error);
  CHECK(error->cause().find("epoch 0") != std::string::npos);
  CHECK(error->cause().find("epoch 1") != std::string::npos);
}

TEST_CASE("a range ends with its epoch, whoever ended it") {
  const Watchdog dog(30s);
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    ps::Loader loader(kind.pipeline, {.threads = 2});
    int shown = 0;
    for (const ps::Batch& batch : loader.epoch()) {
      (void)batch;
      if (++shown == 2) loader.end_epoch();
    }
    CHECK(shown == 2);
    shown = 0;
    for (const ps::Batch& batch : loader.epoch()) {
      CHECK(batch.epoch() == 1);
      ++shown;
      while (loader.next()) {
      }
    }
    CHECK(shown == 1);
    ps::EpochRange epoch = loader.epoch();
    CHECK(epoch.number() == 2);
    CHECK(rest_of(epoch, 1).size() == 1);
    loader.stop();
    CHECK(rest_of(epoch).empty());
    CHECK(rest_of(epoch).empty());
  }
}

TEST_CASE("a range over an epoch that an error ended is at its end") {
  const Watchdog dog(30s);
  Records source{.count = 12};
  source.shared->faults[5] = Fault::corrupt;
  ps::Loader loader(ps::from(source) | ps::batch(2), {.threads = 1});
  ps::EpochRange epoch = loader.epoch();
  CHECK(error_of([&] { (void)rest_of(epoch); })->index() == 5u);
  CHECK(rest_of(epoch).empty());
  CHECK(loader.state().number == 2);  // that which failed
  loader.end_epoch();
  CHECK(loader.state().epoch == 1);
  CHECK(loader.state().number == 0);
}

TEST_CASE("a loop that is left goes on where it was, by the same range or by next()") {
  const Watchdog dog(30s);
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    ps::Loader whole(kind.pipeline, {.threads = 1}), loader(kind.pipeline, {.threads = 2});
    for (std::uint64_t number = 0; number < 3; ++number) {
      const std::vector<Got> expected = collect(whole);
      REQUIRE(expected.size() > 3);
      ps::EpochRange epoch = loader.epoch();
      CHECK(epoch.number() == number);
      CHECK(rest_of(epoch, 2) == std::vector(expected.begin(), expected.begin() + 2));
      const auto one = loader.next();
      REQUIRE(one);
      CHECK(copy(*one) == expected[2]);
      CHECK(rest_of(epoch) == std::vector(expected.begin() + 3, expected.end()));
      CHECK(rest_of(epoch).empty());
    }
  }
}

TEST_CASE("a state saved after a break brings back what the loop would have shown next") {
  const Watchdog dog(60s);
  for (const bool on_device : {false, true})
    for (const Kind& kind : kinds()) {
      CAPTURE(kind.name, on_device);
      const ps::EmulatedGpu gpu;
      const auto options = [&](unsigned threads) {
        ps::LoaderOptions o{.threads = threads};
        if (on_device) o.device = gpu.device();
        return o;
      };
      const std::size_t all = collect(kind.pipeline, {.threads = 1}).size();
      for (std::size_t left_at = 1; left_at < all; ++left_at) {
        ps::Loader loader(kind.pipeline, options(2));
        ps::EpochRange epoch = loader.epoch();
        (void)rest_of(epoch, left_at);
        const ps::State state = loader.state();
        ps::Loader other(kind.pipeline, options(1));
        other.resume(state);
        CHECK(other.epoch_number() == 0);
        ps::EpochRange same = other.epoch();
        CHECK(same.number() == 0);
        CHECK(rest_of(same) == rest_of(epoch));
        // Both are in the same epoch after it.
        ps::EpochRange next = loader.epoch(), next_of_other = other.epoch();
        CHECK(next.number() == 1);
        CHECK(next_of_other.number() == 1);
        CHECK(rest_of(next_of_other, 2) == rest_of(next, 2));
      }
    }
}

TEST_CASE("an epoch that is ended early leaves a state that begins the next one") {
  const Watchdog dog(60s);
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    for (const bool resumed : {false, true}) {
      ps::Loader loader(kind.pipeline, {.threads = 2}), other(kind.pipeline, {.threads = 1});
      ps::EpochRange epoch = loader.epoch();
      (void)rest_of(epoch, 2);
      if (resumed) {  // what a state brought back can be ended as well
        const ps::State inside = loader.state();
        ignore(loader.epoch());
        loader.resume(inside);
      }
      CHECK(loader.epoch_number() == 0);
      loader.end_epoch();
      CHECK(loader.epoch_number() == 1);
      loader.end_epoch();  // none is begun
      CHECK(loader.epoch_number() == 1);
      const ps::State state = loader.state();
      CHECK(state.epoch == 1);
      CHECK(state.number == 0);
      CHECK(state.step == 2);
      other.resume(state);
      other.end_epoch();  // nothing of it was delivered
      ps::EpochRange here = loader.epoch(), there = other.epoch();
      CHECK(here.number() == 1);
      CHECK(there.number() == 1);
      CHECK(rest_of(here) == rest_of(there));
    }
  }
}

TEST_CASE("an epoch that begins gives up what the one before it had, also for states") {
  const Watchdog dog(30s);
  ps::Loader loader(direct(), {.threads = 2});
  CHECK(loader.epoch().number() == 0);
  CHECK(loader.state().epoch == 0);
  ps::EpochRange epoch = loader.epoch();  // the first had shown nothing
  CHECK(epoch.number() == 1);
  CHECK(loader.state().epoch == 1);
  CHECK(loader.epoch_number() == 1);
  CHECK(rest_of(epoch).size() == 6);
  CHECK(loader.epoch().number() == 2);
}

namespace {

std::string notes_of(const ps::Loader& loader) {
  std::string notes;
  for (const std::string& note : loader.report().notes) notes += note + "\n";
  return notes;
}

// y of the first record is 0, and so on.
ps::Stage below(std::int64_t n) {
  return ps::filter("y", [n](ps::View<const std::int64_t, 0> y) { return y() < n; });
}

}  // namespace

TEST_CASE("a pipeline of which no batch can ever come is refused, and its plan says why") {
  const auto refused = [](const ps::Pipeline& p) -> std::string {
    const auto error = error_of([&] { const ps::Loader loader(p, {.threads = 1}); });
    const bool planned = says(p.plan(), "        no batch can ever come: ");
    REQUIRE(planned == error.has_value());
    if (!error) return "";
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->source() == "records");
    CHECK(error->file() == "/nowhere/records");
    CHECK(says(p.plan(), "        " + error->cause() + "\n"));
    return error->cause();
  };
  const ps::BatchOptions drop{.tail = ps::Tail::drop};
  const ps::Pipeline none = ps::from(Records{}), three = ps::from(Records{.count = 3});
  CHECK(refused(none | ps::batch(4)) == "no batch can ever come: the source has no records");
  CHECK(refused(none | even() | ps::batch(4)) == "no batch can ever come: the source has no records");
  CHECK(refused(three | ps::shuffle() | ps::take(0) | ps::batch(4)) ==
        "no batch can ever come: of 3 records the orders leave none (the last one is take 0)");
  const std::string few =
      "no batch can ever come: an epoch has 3 samples for the 4 rows of a batch, and Tail::drop leaves the last batch "
      "out where it is incomplete; make batches smaller, or keep or pad the last one";
  CHECK(refused(three | ps::batch(4, drop)) == few);
  CHECK(refused(three | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(4, drop)) == few);
  CHECK(refused(three | even() | ps::batch(4, drop)) == few);
  // Here some may come.
  for (const ps::Pipeline& p :
       {three | ps::batch(3, drop), three | ps::batch(4), three | ps::batch(4, {.tail = ps::Tail::pad}),
        three | Parts{} | ps::batch(4, drop), ps::from(Records{.count = 4}) | even() | ps::batch(4, drop),
        ps::from(Seeking{}) | ps::batch(4, drop)})
    CHECK(refused(p).empty());
}

TEST_CASE("epochs that bring nothing, or are asked for after the last one, are in the report") {
  const Watchdog dog(30s);
  const ps::Pipeline p = ps::from(Records{.count = 12}) | ps::batch(4);
  ps::Loader loader(p, {.threads = 2, .epochs = 2});
  CHECK(collect(loader, 2).size() == 6);
  CHECK_FALSE(says(notes_of(loader), "epoch"));
  CHECK(collect(loader).empty());
  CHECK(says(notes_of(loader), "an epoch after the last one was asked for: nothing comes after `epochs = 2`"));

  const ps::Pipeline all = ps::from(Records{.count = 12});
  for (const ps::Tail tail : {ps::Tail::keep, ps::Tail::drop}) {
    ps::Loader empty(all | below(0) | ps::batch(4, {.tail = tail}), {.threads = 2});
    CHECK_FALSE(says(notes_of(empty), "without a batch"));
    CHECK(collect(empty).empty());
    CHECK(says(notes_of(empty), "1 epoch ended without a batch: no sample was left"));
    CHECK(collect(empty).empty());
    CHECK(says(notes_of(empty), "2 epochs ended without a batch: no sample was left"));
    CHECK(says(notes_of(empty), ", or fewer than the 4 rows of a batch, which Tail::drop leaves out") ==
          (tail == ps::Tail::drop));
  }
  ps::Loader few(all | below(3) | ps::batch(4, {.tail = ps::Tail::drop}), {.threads = 2});
  CHECK(collect(few).empty());
  CHECK(says(notes_of(few), "1 epoch ended without a batch"));
  ps::Loader some(all | below(5) | ps::batch(4, {.tail = ps::Tail::drop}), {.threads = 2});
  CHECK(collect(some).size() == 1);
  CHECK_FALSE(says(notes_of(some), "without a batch"));
  // The last record of the pass is in the last batch.
  ps::Loader whole(all | below(100) | ps::batch(4), {.threads = 2});
  CHECK(collect(whole, 2).size() == 6);
  CHECK_FALSE(says(notes_of(whole), "without a batch"));
}

TEST_CASE("an epoch whose samples are all bad ends with an error where they are dropped, and with a note as zeros") {
  const Watchdog dog(30s);
  Records source{.count = 12};
  for (std::uint64_t i = 0; i < source.count; ++i) source.shared->faults[i] = Fault::corrupt;
  // Two of the source's records were mended.
  Records mended{.count = 12};
  for (std::uint64_t i = 0; i < mended.count; ++i)
    if (i != 4 && i != 5) mended.shared->faults[i] = Fault::corrupt;
  const auto with = [](const Records& records, ps::OnError policy) {
    return ps::from(records) | ps::on_error({.policy = policy});
  };
  const auto plain = [&](const Records& r) { return with(r, ps::OnError::drop) | ps::batch(4); };
  const auto whole = [&](const Records& r) {
    return with(r, ps::OnError::drop) | ps::batch(4, {.tail = ps::Tail::drop});
  };
  const auto filtered = [&](const Records& r) { return with(r, ps::OnError::drop) | even() | ps::batch(4); };
  for (const std::function<ps::Pipeline(const Records&)>& dropping :
       {std::function<ps::Pipeline(const Records&)>(plain), std::function<ps::Pipeline(const Records&)>(whole),
        std::function<ps::Pipeline(const Records&)>(filtered)}) {
    ps::Loader loader(dropping(source), {.threads = 2});
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      CHECK(loader.epoch_number() == epoch);
      const auto error = error_of([&] { collect(loader); });
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::quota_exceeded);
      CHECK(says(error->cause(), "no batch came: all 12 samples of epoch " + std::to_string(epoch) +
                                     " were bad, and on_error drops them; the first one: "));
      CHECK(error->index() == 0u);
      CHECK(error->key() == "key-0");
      // It can be tried again.
      CHECK(loader.state().epoch == epoch);
      CHECK(loader.state().replaced == 0);
    }
    ps::Loader again(dropping(mended), {.threads = 2});
    again.resume(loader.state());
    CHECK(collect(again).size() <= 1);
  }
  ps::Loader masking(with(source, ps::OnError::mask) | ps::batch(4), {.threads = 2});
  for (int batch = 0; batch < 3; ++batch) CHECK(masking.next());
  CHECK(says(notes_of(masking), "all 12 samples so far were bad: their rows are zeros with mask 0"));
  // Rows that are masked are rows, of which there are too few.
  Records five{.count = 5};
  for (std::uint64_t i = 0; i < 4; ++i) five.shared->faults[i] = Fault::corrupt;
  ps::Loader too_few(
      ps::from(five) | ps::on_error({.policy = ps::OnError::mask}) | below(4) | ps::batch(5, {.tail = ps::Tail::drop}),
      {.threads = 2});
  const auto lost = error_of([&] { collect(too_few); });
  REQUIRE(lost);
  CHECK(says(lost->cause(), "no row is good: all 4 samples of epoch 0 were bad, and on_error masks them"));
  Records last_is_good{.count = 12};
  for (std::uint64_t i = 0; i < 11; ++i) last_is_good.shared->faults[i] = Fault::corrupt;
  ps::Loader one(with(last_is_good, ps::OnError::mask) | ps::batch(4), {.threads = 2});
  CHECK(collect(one).size() == 3);
  CHECK_FALSE(says(notes_of(one), "so far were bad"));
  ps::Loader left(with(last_is_good, ps::OnError::drop) | ps::batch(4), {.threads = 2});
  CHECK(collect(left).size() == 1);
}

}  // namespace PENSTOCK_TEST_FILE
