// SPDX-License-Identifier: Apache-2.0
// Sources, transforms, orders and sinks as a user writes them: a few lines each, no base class, no registration.
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <map>

#include <penstock/penstock.hpp>

namespace ps = penstock;

namespace {

struct Squares {
  std::uint64_t size() const { return 100; }
  ps::Schema schema() const { return {{"x", ps::DType::f32, {2}}, {"n", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto x = out.emplace<float, 1>("x", {2});
    x(0) = static_cast<float>(i);
    x(1) = static_cast<float>(i * i);
    out.scalar<std::int64_t>("n", static_cast<std::int64_t>(i));
  }
};
static_assert(ps::Source<Squares> && ps::SharedSource<Squares> && !ps::LeasedSource<Squares>);

// Its readers carry a buffer, views of which are valid until the next read; they count how often they rest.
struct Buffered {
  struct Reader {
    std::vector<float> buffer;
    std::shared_ptr<std::atomic<int>> pauses;
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      buffer.assign(2, static_cast<float>(i));
      out.view("x", reinterpret_cast<const std::byte*>(buffer.data()), {2});
      out.scalar<std::int64_t>("n", static_cast<std::int64_t>(i));
    }
    void pause() noexcept { ++*pauses; }
  };
  std::shared_ptr<std::atomic<int>> pauses = std::make_shared<std::atomic<int>>(0);
  std::uint64_t size() const { return 100; }
  ps::Schema schema() const { return Squares().schema(); }
  std::unique_ptr<Reader> open_reader() const { return std::make_unique<Reader>(Reader{{}, pauses}); }
};
static_assert(ps::Source<Buffered> && ps::LeasedSource<Buffered> && !ps::SharedSource<Buffered>);

struct Scale {
  float factor;
  void operator()(ps::Sample& sample, ps::Context&) const {
    for (float& v : sample.view<float, 1>("x")) v *= factor;
  }
};
static_assert(ps::Transform<Scale>);

struct AddSum {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"sum", ps::DType::f64, {}}); }
  std::string name() const { return "add_sum"; }
  void operator()(ps::Sample& sample, ps::Context&) const {
    const auto x = sample.view<const float, 1>("x");
    *sample.emplace<double, 0>("sum", {}).data() = static_cast<double>(x(0)) + static_cast<double>(x(1));
  }
};
static_assert(ps::Transform<AddSum>);

struct Backwards {
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t, std::uint64_t n, std::span<ps::OrderPoint> points) const {
    for (ps::OrderPoint& p : points) p.position = n - 1 - p.position;
  }
  std::string name() const { return "backwards"; }
  std::string describe() const { return ""; }
};
static_assert(ps::Order<Backwards>);

struct MapSink {
  std::map<std::uint64_t, double>* to;
  bool finished = false;
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem& item, ps::Sample& sample) { (*to)[item.position] = sample.scalar<double>("sum"); }
  void commit() {}
  void finish() { finished = true; }
  std::string name() const { return "map"; }
};
static_assert(ps::Sink<MapSink>);

}  // namespace

class UptoSource;

// Options that open a source.
struct Upto {
  using Source = UptoSource;
  std::uint64_t end = 0;
};

class UptoSource {
 public:
  explicit UptoSource(Upto options) : options_(options) {}
  std::uint64_t size() const { return options_.end; }
  ps::Schema schema() const { return {{"x", ps::DType::u64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const { out.scalar<std::uint64_t>("x", i); }

 private:
  Upto options_;
};

TEST_CASE("a pipeline begins with the options that open a source, as with the source") {
  CHECK(ps::from(Upto{.end = 3}).size() == 3);
  CHECK(ps::from(ps::concat(Upto{.end = 3}, UptoSource({.end = 4}))).size() == 7);
}

TEST_CASE("a user's source, transforms and order run through a loader") {
  const ps::Pipeline p = ps::from(Squares{}) | Backwards{} | ps::take(10) | Scale{2} | AddSum{} | ps::batch(4);
  CHECK(p.schema().to_string() == "{x: f32[2], n: i64[], sum: f64[]}");
  CHECK(p.plan().find("backwards") != std::string::npos);
  CHECK(p.plan().find("add_sum") != std::string::npos);
  ps::Loader loader(p, {.threads = 2});
  std::int64_t n = 99;
  for (ps::Batch& b : loader.epoch())
    for (std::uint64_t row = 0; row < b.size(); ++row, --n) {
      CHECK(b.view<std::int64_t, 1>("n")(row) == n);
      CHECK(b.view<double, 1>("sum")(row) == static_cast<double>(2 * n + 2 * n * n));
    }
  CHECK(n == 89);
}

TEST_CASE("a source with readers is leased to one runner at a time, and may rest") {
  Buffered source;
  {
    ps::Loader loader(ps::from(source) | Scale{3} | ps::batch(8), {.threads = 3, .epochs = 2});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (ps::Batch& b : loader.epoch())
        for (std::uint64_t row = 0; row < b.size(); ++row)
          CHECK(b.view<float, 2>("x")(row, 1) == 3 * static_cast<float>(b.indices()[row]));
  }
  CHECK(*source.pauses > 0);
  CHECK(ps::read_sample(source, 7)["x"].as<float, 1>()(0) == 7);
  CHECK(ps::read_sample(Squares{}, 7)["x"].as<float, 1>()(1) == 49);
}

TEST_CASE("a callable on one field, written down where it is used") {
  const ps::Pipeline p =
      ps::from(Squares{}) |
      ps::map("x",
              [](ps::View<const float, 1> in, ps::View<std::int32_t, 1> out) {
                for (std::int64_t i = 0; i < in.extent(0); ++i) out(i) = static_cast<std::int32_t>(in(i)) + 1;
              }) |
      ps::map("x", [](ps::View<std::int32_t, 1> x,
                      ps::Context& context) { x(0) += static_cast<std::int32_t>(context.rng().below(1)); }) |
      ps::map("n", [](ps::View<std::int64_t, 0> n) { n() += 5; }) | ps::batch(10);
  ps::Loader loader(p, {.threads = 2});
  const auto b = loader.next();
  REQUIRE(b);
  for (int row = 0; row < 10; ++row) {
    CHECK(b->view<std::int32_t, 2>("x")(row, 1) == row * row + 1);
    CHECK(b->view<std::int64_t, 1>("n")(row) == row + 5);
  }
}

TEST_CASE("a user's sink is written to, named or in place") {
  std::map<std::uint64_t, double> sums;
  MapSink sink{&sums};
  CHECK(ps::write(ps::from(Squares{}) | AddSum{}, sink, {.threads = 2}).done == 100);
  CHECK(sink.finished);
  CHECK(sums.size() == 100);
  CHECK(sums[9] == 90);
  sums.clear();
  CHECK(ps::write(ps::from(Squares{}) | ps::take(3) | AddSum{}, MapSink{&sums}).done == 3);
  CHECK(sums.size() == 3);
}

TEST_CASE("one source can be shared by pipelines") {
  const auto source =
      std::shared_ptr<const ps::detail::SourceModel>(std::make_shared<ps::detail::SourceOf<Squares>>(Squares{}));
  const ps::Pipeline train = ps::from(source) | ps::split({.part = 0}) | ps::batch(8),
                     valid = ps::from(source) | ps::split({.part = 1}) | ps::batch(8);
  CHECK(train.size() + valid.size() == 100);
  const ps::AnySource any = ps::share(Buffered{});
  CHECK(ps::from(any).size() + ps::from(any).size() == 200);
  CHECK(ps::read_sample(any, 7)["x"].as<float, 1>()(0) == 7);
}

TEST_CASE("whatever stands for a source can be shared") {
  const auto three = [](auto source) {
    const ps::AnySource shared = ps::share(source);
    CHECK(ps::from(shared).size() == 3);
    CHECK(ps::from(source).size() == 3);
    CHECK(ps::from(ps::concat(source, Upto{.end = 4})).size() == 7);
  };
  three(Upto{.end = 3});
  three(UptoSource({.end = 3}));
  three(ps::AnySource(Upto{.end = 3}));
  three(ps::share(ps::concat(Upto{.end = 1}, Upto{.end = 2})));
  const ps::AnySource any = Upto{.end = 3};
  CHECK(ps::share(any).model() == any.model());
}

TEST_CASE("a user's sources and orders say what they know beyond the least") {
  struct Shards : Squares {
    std::vector<std::uint64_t> block_ends() const { return {10, 30, 100}; }
  };
  struct Fixed : Backwards {
    bool fixed() const { return true; }
  };
  static_assert(ps::Source<Shards> && ps::Order<Fixed>);
  const ps::Pipeline shards = ps::from(Shards{}) | ps::shuffle({.blocks = true, .window_blocks = 1});
  std::vector<std::uint64_t> order(100);
  shards.fill(0, 0, order);
  const auto shard = [](std::uint64_t i) { return i < 10 ? 0 : i < 30 ? 1 : 2; };
  int turns = 1;
  for (std::size_t i = 1; i < order.size(); ++i) turns += shard(order[i]) != shard(order[i - 1]) ? 1 : 0;
  CHECK(turns == 3);
  std::vector<double> weights(100);
  weights[2] = 1;
  const ps::Stage third = ps::draw_weighted({.weights = weights, .count = 1});
  (ps::from(Squares{}) | Fixed{} | third).fill(0, 0, {order.data(), 1});
  CHECK(order[0] == 97);
  CHECK_THROWS_AS(ps::from(Squares{}) | Backwards{} | third, ps::Error);
  // Parts of any type stand beside each other, and one after the other.
  const ps::AnySource joined = ps::concat(Squares{}, Buffered{}, Shards{});
  CHECK(ps::labels_of(joined, "n")[299] == 99);
}
