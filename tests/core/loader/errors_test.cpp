// SPDX-License-Identifier: Apache-2.0
// Bad samples: what is reported, what is replaced, what stays as it was.
#include "support/catch.hpp"

#include <atomic>
#include <cstring>
#include <set>

#include "core/help.hpp"

using namespace help;

namespace {

Records with_faults(std::uint64_t n, const std::map<std::uint64_t, Fault>& faults) {
  Records r{.count = n};
  r.shared->faults = faults;
  return r;
}
// Throws for certain indices, from a whole-sample map.
struct Throws {
  std::map<std::uint64_t, Fault> faults;
  std::string name() const { return "throws"; }
  void operator()(ps::Sample&, ps::Context& context) const {
    if (const auto f = faults.find(context.index()); f != faults.end()) raise(f->second);
  }
};
// Delivers what there is; the error that ended it.
ps::Error drain(ps::Loader& loader, std::vector<Got>* got = nullptr) {
  try {
    while (auto b = loader.next())
      if (got != nullptr) got->push_back(copy(*b));
  } catch (const ps::Error& error) {
    return error;
  }
  FAIL("no error came");
  std::abort();
}

}  // namespace

TEST_CASE("errors say stage, source, file, key, index, offset and cause, from wherever they come") {
  struct Case {
    Fault fault;
    ps::Errc code;
    const char* cause;
  };
  for (const Case c :
       {Case{Fault::corrupt, ps::Errc::corrupt, "planted damage"}, Case{Fault::io, ps::Errc::io, "planted read error"},
        Case{Fault::standard, ps::Errc::user, "planted exception"},
        Case{Fault::number, ps::Errc::user, "an exception that is no std::exception"},
        Case{Fault::fatal, ps::Errc::invalid_argument, "planted mistake"},
        Case{Fault::memory, ps::Errc::out_of_memory, "the system has no memory left"}}) {
    const auto check = [&](const ps::Pipeline& p, const char* stage) {
      ps::Loader loader(p | ps::batch(4), {.threads = 2});
      std::vector<Got> got;
      const ps::Error error = drain(loader, &got);
      CAPTURE(error.what());
      CHECK(got.size() == 3);
      CHECK(error.code() == c.code);
      CHECK(error.cause() == c.cause);
      CHECK(error.stage() == stage);
      CHECK(error.source() == "records");
      CHECK(error.file() == "/nowhere/records");
      CHECK(error.key() == "key-13");
      CHECK(error.index() == std::optional<std::uint64_t>(13));
      CHECK(error.offset() == (c.fault == Fault::corrupt ? std::optional<std::uint64_t>(17) : std::nullopt));
    };
    check(ps::from(with_faults(20, {{13, c.fault}})), "read");
    check(ps::from(Records{.count = 20}) | Throws{{{13, c.fault}}}, "throws");
    const auto field_map = [f = c.fault](ps::View<const std::uint32_t, 1> in, ps::View<float, 1>,
                                         ps::Context& context) {
      if (context.index() == 13 && in(0) == x_of(13, 0)) raise(f);
    };
    check(ps::from(Records{.count = 20}) | ps::map("x", field_map, {.name = "scale", .out = "f"}), "scale(x)");
  }
}

TEST_CASE("the first failure in order is thrown, at any number of threads") {
  const Watchdog dog(60s);
  // Later records fail at once, the first one late: by time, it would be the last.
  Records source =
      with_faults(64, {{21, Fault::corrupt}, {22, Fault::io}, {23, Fault::io}, {30, Fault::io}, {40, Fault::io}});
  source.shared->before_read = [](std::uint64_t i) {
    if (i == 21) std::this_thread::sleep_for(20ms);
  };
  for (const unsigned threads : {1u, 2u, 5u, 16u}) {
    for (const std::uint64_t rows : {1u, 4u, 16u}) {
      CAPTURE(threads, rows);
      ps::Loader loader(ps::from(source) | ps::batch(rows), {.threads = threads, .depth = 40});
      std::vector<Got> got;
      const ps::Error error = drain(loader, &got);
      CHECK(*error.index() == 21);
      CHECK(got.size() == 21 / rows);
      // The state names the batch that failed; the next epoch begins when asked.
      CHECK(loader.state().position == 21 / rows * rows);
      CHECK(loader.epoch_number() == 1);
      const auto again = error_of([&] { (void)collect(loader); });
      REQUIRE(again);
      CHECK(*again->index() == 21);
      CHECK(loader.state().epoch == 1);
    }
  }
}

TEST_CASE("mask: zeros and mask 0 in that row, every other bit as without the fault") {
  const auto build = [](bool faulty) {
    return ps::from(faulty ? with_faults(
                                 50, {{3, Fault::corrupt}, {11, Fault::standard}, {12, Fault::number}, {49, Fault::io}})
                           : Records{.count = 50}) |
           ps::shuffle({.seed = 4}) | AddDraw{} | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(8);
  };
  const auto good = collect(build(false), {.threads = 2}, 2);
  for (const unsigned threads : {1u, 4u}) {
    ps::Loader loader(build(true), {.threads = threads, .epochs = 2});
    const auto got = collect(loader, 2);
    REQUIRE(got.size() == good.size());
    std::uint64_t masked = 0;
    for (std::size_t b = 0; b < got.size(); ++b) {
      CHECK(got[b].indices == good[b].indices);
      const std::size_t rows = got[b].indices.size();
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint64_t index = got[b].indices[row];
        const bool bad = index == 3 || index == 11 || index == 12 || index == 49;
        masked += bad;
        REQUIRE(got[b].mask[row] == (bad ? 0 : 1));
        for (std::size_t i = 0; i < 16; ++i) {
          const std::size_t at = row * 16 + i;  // x comes first
          REQUIRE(got[b].bytes[at] == (bad ? std::byte{0} : good[b].bytes[at]));
        }
        for (std::size_t i = 0; i < 8; ++i) {
          const std::size_t at = rows * 16 + row * 8 + i;
          REQUIRE(got[b].bytes[at] == (bad ? std::byte{0} : good[b].bytes[at]));
        }
      }
    }
    CHECK(masked == 8);
    const ps::Report report = loader.report();
    CHECK(report.errors == 8);
    CHECK(std::ranges::count_if(report.notes, [](const std::string& n) { return n.find("bad sample") == 0; }) == 4);
    CHECK(std::ranges::count(report.notes, "8 bad samples in all") == 1);
    CHECK(loader.state().replaced == 8);
  }
}

TEST_CASE("replace: another record of the same order, every other bit as without the fault") {
  const std::map<std::uint64_t, Fault> faults{
      {3, Fault::corrupt}, {11, Fault::standard}, {12, Fault::number}, {40, Fault::io}, {41, Fault::io}};
  const auto build = [&](bool faulty) {
    return ps::from(faulty ? with_faults(50, faults) : Records{.count = 50}) | ps::skip(2) | ps::take(44) |
           ps::shuffle({.seed = 4}) | AddDraw{} | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(8);
  };
  const auto good = collect(build(false), {.threads = 1}, 2);
  std::vector<Got> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    ps::Loader loader(build(true), {.threads = threads, .epochs = 2});
    const auto got = collect(loader, 2);
    if (first.empty()) first = got;
    CHECK(got == first);
    REQUIRE(got.size() == good.size());
    std::map<std::uint64_t, std::vector<std::uint64_t>> stand_ins;
    for (std::size_t b = 0; b < got.size(); ++b) {
      for (std::size_t row = 0; row < got[b].indices.size(); ++row) {
        CHECK(got[b].mask[row] == 1);
        const std::uint64_t wanted = good[b].indices[row], index = got[b].indices[row];
        if (!faults.contains(wanted)) {
          CHECK(index == wanted);
          REQUIRE(std::equal(got[b].bytes.begin() + static_cast<std::ptrdiff_t>(row * 16),
                             got[b].bytes.begin() + static_cast<std::ptrdiff_t>(row * 16 + 16),
                             good[b].bytes.begin() + static_cast<std::ptrdiff_t>(row * 16)));
        } else {
          CHECK_FALSE(faults.contains(index));
          CHECK((index >= 2 && index < 46));  // of this order, not of the source
          stand_ins[wanted].push_back(index);
          std::int64_t y = 0;
          std::memcpy(&y, got[b].bytes.data() + got[b].indices.size() * 16 + row * 8, 8);
          CHECK(y == static_cast<std::int64_t>(index));
        }
      }
    }
    CHECK(stand_ins.size() == 5);
    std::set<std::vector<std::uint64_t>> different;
    for (const auto& [index, list] : stand_ins) {
      CHECK(list.size() == 2);
      different.insert(list);
    }
    CHECK(different.size() >= 4);  // drawn for each place anew
    CHECK(loader.report().errors == 10);
  }
}

TEST_CASE("a stand-in's draws are keyed by its attempt") {
  // A record that is wanted at a place, and one that stands in there, are augmented differently.
  Records one = with_faults(2, {{0, Fault::corrupt}});
  const ps::Pipeline p = ps::from(one) | AddDraw{} | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(1);
  const ps::Pipeline plain = ps::from(Records{.count = 2}) | ps::select({1, 1}) | AddDraw{} | ps::batch(1);
  const auto got = collect(p, {.threads = 1}), wanted = collect(plain, {.threads = 1});
  CHECK(got[0].indices == wanted[0].indices);
  CHECK_FALSE(got[0].bytes == wanted[0].bytes);
}

TEST_CASE("a place where eight stand-ins fail too ends the run") {
  std::map<std::uint64_t, Fault> all;
  for (std::uint64_t i = 0; i < 20; ++i) all[i] = Fault::corrupt;
  Records source = with_faults(20, all);
  {
    ps::Loader loader(ps::from(source) | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(1),
                      {.threads = 1, .depth = 2, .epochs = 1});
    const ps::Error error = drain(loader);
    CHECK(error.code() == ps::Errc::corrupt);
    CHECK(*error.index() == 0);  // the one that was wanted, though others were tried since
    CHECK(error.key() == "key-0");
    CHECK(error.cause().find("8 records drawn to replace it") != std::string::npos);
  }
  CHECK(source.shared->reads % 9 == 0);  // the one that was wanted, and eight
}

TEST_CASE("what no policy may act on ends the run under any") {
  for (const ps::OnError policy : {ps::OnError::replace, ps::OnError::mask})
    for (const Fault fault : {Fault::fatal, Fault::memory}) {
      ps::Loader loader(ps::from(with_faults(20, {{6, Fault::corrupt}, {13, fault}})) |
                            ps::on_error({.policy = policy}) | ps::batch(4),
                        {.threads = 2});
      std::vector<Got> got;
      const ps::Error error = drain(loader, &got);
      CHECK(got.size() == 3);
      CHECK(*error.index() == 13);
      CHECK_FALSE(error.sample_scoped());
    }
}

TEST_CASE("quotas end the run at the same sample at any number of threads, and across a resume") {
  const Watchdog dog(60s);
  std::map<std::uint64_t, Fault> faults;
  for (std::uint64_t i = 5; i < 200; i += 10) faults[i] = Fault::corrupt;
  Records source = with_faults(200, faults);
  source.shared->before_read = [](std::uint64_t i) {
    if (mix(i) % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(mix(i + 1) % 500));
  };
  for (const ps::OnError policy : {ps::OnError::mask, ps::OnError::replace}) {
    const ps::Pipeline p = ps::from(source) | ps::on_error({.policy = policy, .max_count = 7}) | ps::batch(6);
    for (const unsigned threads : {1u, 2u, 5u, 16u}) {
      ps::Loader loader(p, {.threads = threads, .depth = 12});
      std::vector<Got> got;
      const ps::Error error = drain(loader, &got);
      CAPTURE(threads);
      CHECK(error.code() == ps::Errc::quota_exceeded);
      CHECK(*error.index() == 75);  // the eighth
      CHECK(error.key() == "key-75");
      CHECK(got.size() == 12);
      CHECK(loader.state().replaced == 7);
    }
    for (std::uint64_t stop = 0; stop <= 12; ++stop) {
      ps::Loader first(p, {.threads = 2});
      for (std::uint64_t i = 0; i < stop; ++i) REQUIRE(first.next());
      ps::Loader second(p, {.threads = 3});
      second.resume(first.state());
      std::vector<Got> got;
      const ps::Error error = drain(second, &got);
      CHECK(error.code() == ps::Errc::quota_exceeded);
      CHECK(*error.index() == 75);
      CHECK(got.size() == 12 - stop);
    }
  }
}

TEST_CASE("a share is allowed on average, and judged in order") {
  std::map<std::uint64_t, Fault> faults;
  for (std::uint64_t i = 0; i < 5000; ++i)
    if (i % 100 == 50 || i == 1200 || i == 1201 || i == 1202) faults[i] = Fault::corrupt;
  const Records source = with_faults(5000, faults);
  const auto run = [&](double share, unsigned threads) {
    ps::Loader loader(
        ps::from(source) | ps::on_error({.policy = ps::OnError::mask, .max_share = share}) | ps::batch(10),
        {.threads = threads});
    return *drain(loader).index();
  };
  // The 11th comes at 1,050, and 11 of 1,051 are more than 1 %; the 15th at 1,202, and 15 of 1,203 are more than 1.2 %,
  // 14 of 1,202 are not.
  for (const unsigned threads : {1u, 4u}) CHECK(run(0.01, threads) == 1050);
  for (const unsigned threads : {1u, 4u}) CHECK(run(0.012, threads) == 1202);
}

TEST_CASE("a share is one of the samples that were delivered, also where epochs are left early") {
  // Five of the first hundred are bad, and so is the one after them, which is never asked for.
  std::map<std::uint64_t, Fault> faults;
  for (std::uint64_t i = 0; i <= 100; i += 20) faults[i] = Fault::corrupt;
  const ps::Pipeline p = ps::from(with_faults(101, faults)) |
                         ps::on_error({.policy = ps::OnError::mask, .max_share = 0.06}) | ps::batch(100);
  ps::Loader loader(p, {.threads = 2});
  ps::State state;
  for (int epoch = 0; epoch < 40; ++epoch) {
    for (const ps::Batch& batch : loader.epoch()) {
      CHECK(batch.indices().size() == 100);
      break;
    }
    state = loader.state();
    CHECK(state.samples == 100u * static_cast<unsigned>(epoch + 1));
  }
  CHECK(loader.report().errors == 40 * 5);
  // A state brings the count along; the report speaks of this loader alone.
  ps::Loader other(p, {.threads = 1});
  other.resume(state);
  CHECK(other.next()->indices().size() == 1);
  CHECK(other.state().samples == 4001);
  CHECK(other.state().replaced == 40 * 5 + 1);
  const ps::Report report = other.report();
  CHECK(report.samples == 1);
  CHECK(report.errors == 1);
}

TEST_CASE("a share is one of samples, not of the places in the batches that carry them") {
  // Ten records an epoch, in batches that could hold 100: sample 1,000 is the last one of epoch 99.
  const Records source = with_faults(10, {{4, Fault::corrupt}, {9, Fault::corrupt}});
  for (const ps::Tail tail : {ps::Tail::keep, ps::Tail::pad}) {
    const ps::Pipeline p = ps::from(source) | ps::on_error({.policy = ps::OnError::mask, .max_share = 0.19}) |
                           ps::batch(100, {.tail = tail});
    ps::Loader loader(p, {.threads = 1});
    std::uint64_t epochs = 0;
    const auto read = [&](ps::Loader& from) {
      return error_of([&] {
        for (;; ++epochs) (void)collect(from);
      });
    };
    const auto error = read(loader);
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::quota_exceeded);
    CHECK(epochs == 99);
    ps::Loader first(p, {.threads = 1}), second(p, {.threads = 2});
    (void)collect(first, 60);
    second.resume(first.state());
    epochs = 60;
    REQUIRE(read(second));
    CHECK(epochs == 99);
  }
}

TEST_CASE("samples of an incomplete last batch that is dropped are neither made nor counted") {
  for (const ps::OnError policy : {ps::OnError::fail, ps::OnError::replace, ps::OnError::mask}) {
    CAPTURE(static_cast<int>(policy));
    const Records source = with_faults(21, {{20, Fault::corrupt}});
    std::atomic<bool> last_read{false};
    source.shared->before_read = [&](std::uint64_t i) { last_read = last_read || i == 20; };
    ps::Loader loader(
        ps::from(source) | ps::on_error({.policy = policy, .max_count = 0}) | ps::batch(4, {.tail = ps::Tail::drop}),
        {.threads = 2, .epochs = 1});
    CHECK(collect(loader).size() == 5);
    CHECK(loader.state().samples == 20);
    CHECK(loader.state().replaced == 0);
    CHECK(loader.report().errors == 0);
    CHECK(source.shared->reads == 20);
    CHECK_FALSE(last_read);
  }
}

TEST_CASE("an order that fails while a replacement is drawn says so") {
  struct Once {
    std::shared_ptr<std::atomic<int>> calls;
    std::string name() const { return "once"; }
    std::string describe() const { return ""; }
    std::uint64_t size(std::uint64_t n) const { return n; }
    void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
      if (points.size() == 1 && ++*calls > 0) throw std::runtime_error("no more positions");
    }
  };
  ps::Loader loader(ps::from(with_faults(20, {{6, Fault::corrupt}})) | Once{std::make_shared<std::atomic<int>>(0)} |
                        ps::on_error({.policy = ps::OnError::replace}) | ps::batch(5),
                    {.threads = 2});
  const ps::Error error = drain(loader);
  CHECK(error.stage() == "once");
  CHECK(error.cause().find("no more positions") != std::string::npos);
}

namespace {
// A source whose readers can't be opened from the n-th on.
struct NoReaders {
  std::shared_ptr<std::atomic<int>> left;
  struct Reader {
    void read(std::uint64_t i, ps::SampleBuilder& out) { out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i)); }
  };
  std::uint64_t size() const { return 40; }
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  std::string name() const { return "no_readers"; }
  std::unique_ptr<Reader> open_reader() const {
    if ((*left)-- <= 0) throw std::runtime_error("no more handles");
    return std::make_unique<Reader>();
  }
};
}  // namespace

TEST_CASE("a reader that can't be opened ends the run with the cause") {
  const Watchdog dog(30s);
  for (const unsigned threads : {1u, 4u}) {
    NoReaders source{std::make_shared<std::atomic<int>>(0)};
    ps::Loader loader(ps::from(source) | ps::batch(4), {.threads = threads});
    const ps::Error error = drain(loader);
    CHECK(error.code() == ps::Errc::user);
    CHECK(error.cause() == "no more handles");
    CHECK(error.stage() == "read");
    CHECK(error.source() == "no_readers");
    // When handles are there again, the next epoch runs.
    *source.left = 1000;
    CHECK(collect(loader).size() == 10);
  }
}
