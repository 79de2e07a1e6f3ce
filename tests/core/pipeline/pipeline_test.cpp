// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {
ps::Pipeline records(std::uint64_t n = 10) { return ps::from(Records{.count = n}); }
// The error of joining `stage` to a pipeline of `records`, which must name the stage and list the fields.
void refused(const ps::Stage& stage, const std::string& name, bool lists = true) {
  const auto error = error_of([&] { (void)(records() | stage); });
  CAPTURE(name);
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::schema_mismatch);
  CHECK(error->stage() == name);
  INFO(error->what());
  if (lists) CHECK(error->cause().find("{x: u32[4], y: i64[]}") != std::string::npos);
}
}  // namespace

TEST_CASE("stages that miss their field are refused where they join, listing what there is") {
  refused(ps::map("z", [](ps::View<float, 1>) {}), "map(z)");
  refused(ps::map("z", [](ps::View<float, 1>) {}, {.name = "scale"}), "scale(z)");
  refused(ps::map("x", [](ps::View<float, 1>) {}), "map(x)");
  refused(ps::map("x", [](ps::View<std::uint32_t, 2>) {}), "map(x)");
  refused(ps::select_fields({"x", "z"}), "select_fields");
  refused(fake::decode("z"), "decode_raw(z)");
  refused(fake::decode("x"), "decode_raw(x)", false);
  refused(fake::image_stage("x", fake::RandomFlip{}), "random_flip(x)", false);
  refused(ps::map("x", [](ps::View<const std::uint32_t, 1>, ps::View<float, 2>) {}), "map(x)", false);
}

TEST_CASE("mistakes in building a pipeline are refused on their line") {
  const auto code = [](auto f) {
    const auto error = error_of(f);
    return error ? static_cast<int>(error->code()) : -1;
  };
  const int invalid = static_cast<int>(ps::Errc::invalid_argument);
  CHECK(code([] { (void)ps::batch(0); }) == invalid);
  CHECK(code([] { (void)ps::select_fields({}); }) == invalid);
  CHECK(code([] { (void)(records() | ps::batch(2) | ps::shuffle()); }) == invalid);
  CHECK(code([] { (void)(records() | ps::batch(2) | ps::batch(2)); }) == invalid);
  CHECK(code([] { (void)(records() | ps::batch(2) | AddDraw{}); }) == invalid);
  CHECK(code([] { (void)(records() | ps::on_error({}) | ps::on_error({})); }) == invalid);
  CHECK(code([] { (void)ps::on_error({.max_share = 1.5}); }) == invalid);
  CHECK(code([] { (void)ps::check({.max_sample_bytes = 0}); }) == invalid);
  CHECK(code([] { (void)(records() | ps::map("x", [](ps::View<std::uint32_t, 1>) {}, {.out = "y2"})); }) == invalid);
  CHECK(code([] { (void)records().steps_per_epoch(); }) == invalid);
  CHECK(code([] { ps::Loader(records(), {}); }) == invalid);
  CHECK(code([] { ps::Loader(records() | ps::batch(2), {.device = ps::gpu(0)}); }) ==
        static_cast<int>(ps::Errc::unsupported));
}

namespace {
// x: u32[?].
struct Ragged {
  ps::Collate collate = {};
  std::uint64_t size() const { return 5; }
  ps::Schema schema() const { return {{"x", ps::DType::u32, {ps::dynamic}, collate}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (std::uint32_t& v : out.emplace<std::uint32_t, 1>("x", {static_cast<std::int64_t>(i)}))
      v = static_cast<std::uint32_t>(i);
  }
};
}  // namespace

TEST_CASE("a field that varies can't be batched, and the error says what to do") {
  const auto error = error_of([] { (void)(ps::from(Ragged{}) | ps::batch(2)); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::schema_mismatch);
  CHECK(error->stage() == "batch");
  CHECK(error->cause().find("\"x\"") != std::string::npos);
  CHECK(error->cause().find("{x: u32[?]}") != std::string::npos);
  CHECK(error->cause().find("ragged, pad") != std::string::npos);
  CHECK_FALSE(error_of([] { (void)(ps::from(Ragged{.collate = ps::Collate::ragged()}) | ps::batch(2)); }));
  CHECK_FALSE(error_of([] { (void)(ps::from(Ragged{.collate = ps::Collate::pad(5)}) | ps::batch(2)); }));
}

TEST_CASE("a field of eight dimensions has no room for a batch's") {
  struct Deep {
    std::uint64_t size() const { return 1; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {1, 1, 1, 1, 1, 1, 1, 1}}}; }
    void read(std::uint64_t, ps::SampleBuilder& out) const { *out.emplace(0, schema()[0].shape).data = std::byte{1}; }
  };
  CHECK(error_of([] { (void)(ps::from(Deep{}) | ps::batch(1)); })->code() == ps::Errc::schema_mismatch);
}

TEST_CASE("a pipeline is a value: joining a stage leaves the original alone") {
  const ps::Pipeline base = records() | ps::shuffle();
  const std::uint64_t before = base.fingerprint();
  const ps::Pipeline a = base | AddDraw{} | ps::batch(3);
  const ps::Pipeline b = base | ps::select_fields({"y"}) | ps::batch(4, {.tail = ps::Tail::drop});
  CHECK(base.fingerprint() == before);
  CHECK(base.batch_size() == 0);
  CHECK(a.steps_per_epoch() == 4);
  CHECK(b.steps_per_epoch() == 2);
  CHECK(b.schema().to_string() == "{y: i64[]}");
  CHECK(a.fingerprint() != b.fingerprint());
  CHECK(a.fingerprint() == (records() | ps::shuffle() | AddDraw{} | ps::batch(3)).fingerprint());
}

TEST_CASE("the fingerprint sees the last digit of a split's shares") {
  const auto part = [](double share) {
    return (records() | ps::split({.shares = {share, 1}, .part = 1}) | ps::batch(3)).fingerprint();
  };
  CHECK(part(1.0 / 3) == part(1.0 / 3));
  CHECK(part(1.0 / 3) != part(0.333333));
  CHECK(part(1e-7) != part(4e-7));
}

TEST_CASE("the fingerprint follows everything that changes results, and nothing else") {
  const auto double_x = [](ps::View<std::uint32_t, 1> x) {
    for (std::uint32_t& v : x) v *= 2;
  };
  const ps::Pipeline p = records() | ps::map("x", double_x) | ps::batch(2);
  std::vector<std::uint64_t> seen{p.fingerprint()};
  const auto differs = [&](const ps::Pipeline& other) {
    const std::uint64_t f = other.fingerprint();
    const bool is_new = std::ranges::find(seen, f) == seen.end();
    seen.push_back(f);
    return is_new;
  };
  CHECK(differs(records(11) | ps::map("x", double_x) | ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x, {.version = 1}) | ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x, {.name = "other"}) | ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x) | ps::map("x", double_x) | ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x) | ps::batch(3)));
  CHECK(differs(records() | ps::map("x", double_x) | ps::batch(2, {.tail = ps::Tail::pad})));
  CHECK(differs(records() | ps::map("x", double_x) | ps::seed(1) | ps::batch(2)));
  CHECK(differs(records() | ps::take(9) | ps::map("x", double_x) | ps::batch(2)));
  CHECK(differs(records() | ps::take(8) | ps::map("x", double_x) | ps::batch(2)));
  CHECK(differs(records() | ps::select({1, 2}) | ps::map("x", double_x) | ps::batch(2)));
  CHECK(differs(records() | ps::select({2, 1}) | ps::map("x", double_x) | ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x) | ps::on_error({.policy = ps::OnError::mask, .max_count = 5}) |
                ps::batch(2)));
  CHECK(differs(records() | ps::map("x", double_x) | ps::check({.max_sample_bytes = 1000}) | ps::batch(2)));
}

TEST_CASE("a plan names every step in order") {
  const ps::Pipeline p =
      records() | ps::shuffle({.seed = 5}) | ps::take(7) | AddDraw{} |
      ps::map("x", [](ps::View<const std::uint32_t, 1>, ps::View<float, 1>) {}, {.name = "to_float", .out = "f"}) |
      ps::select_fields({"f"}) | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(2, {.tail = ps::Tail::pad});
  const std::string plan = p.plan();
  std::size_t at = 0;
  for (const char* words : {"records", "10 records", "shuffle", "take 7", "7 samples, seed 5", "read", "add_draw",
                            "to_float(x)", "select_fields", "2 rows, 4 an epoch", "padded", "replaced"}) {
    CAPTURE(words, plan);
    const std::size_t found = plan.find(words, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
}

TEST_CASE("at() gives the sample as it stands in its batch") {
  const ps::Pipeline p = records(20) | ps::shuffle() | AddDraw{} | ps::batch(6);
  ps::Loader loader(p, {.threads = 2});
  std::uint64_t position = 0;
  for (ps::Batch& batch : loader.epoch())
    for (std::uint64_t row = 0; row < batch.size(); ++row, ++position) {
      const ps::OwnedSample sample = p.at(position);
      const auto x = sample["x"].as<std::uint32_t, 1>();
      for (int j = 0; j < 4; ++j) CHECK(batch.view<std::uint32_t, 2>("x")(row, j) == x(j));
      CHECK(*sample["y"].as<std::int64_t, 0>().data() == batch.view<std::int64_t, 1>("y")(row));
    }
  CHECK(position == 20);
  CHECK(error_of([&] { (void)p.at(20); })->code() == ps::Errc::invalid_argument);
  Records bad{.count = 3};
  bad.shared->faults[1] = Fault::corrupt;
  const auto error = error_of([&] { (void)ps::from(bad).at(1); });
  REQUIRE(error);
  CHECK(error->stage() == "read");
  CHECK(*error->index() == 1);
  CHECK(error->key() == "key-1");
}

}  // namespace PENSTOCK_TEST_FILE
