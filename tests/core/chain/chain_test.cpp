// SPDX-License-Identifier: Apache-2.0
// Where values are written, and how often they are copied.
#include "support/catch.hpp"

#include <numeric>

#include <penstock/sources/memory.hpp>
#include <penstock/stages/map.hpp>

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

struct Run {
  std::vector<Got> batches;
  std::uint64_t copied;
};
Run run(const ps::Pipeline& p) {
  ps::Loader loader(p, {.threads = 2, .epochs = 1});  // what is made ahead would be counted too
  auto batches = collect(loader);
  return {std::move(batches), loader.report().copied_bytes};
}
template <class T>
std::vector<T> values(const ps::Pipeline& p, const char* field) {
  std::vector<T> out;
  ps::Loader loader(p, {.threads = 2});
  for (ps::Batch& b : loader.epoch()) {
    const ps::TensorView t = b[field];
    const T* data = reinterpret_cast<const T*>(t.data);
    out.insert(out.end(), data, data + t.bytes() / sizeof(T));
  }
  return out;
}
ps::Memory memory(std::uint64_t n) {
  std::vector<float> x(n * 4);
  std::iota(x.begin(), x.end(), 0.0f);
  ps::Memory m;
  m.add<float>("x", {4}, x).add<std::int64_t>("y", {}, std::vector<std::int64_t>(n, 7));
  return m;
}
const auto twice = [](ps::View<float, 1> x) {
  for (float& v : x) v *= 2;
};
const auto add_one = [](ps::View<const float, 1> in, ps::View<float, 1> out) {
  for (std::int64_t i = 0; i < in.extent(0); ++i) out(i) = in(i) + 1;
};

}  // namespace

TEST_CASE("a source that writes needs no copy, one that is viewed needs one") {
  CHECK(run(ps::from(Records{.count = 10}) | ps::batch(4)).copied == 0);
  CHECK(run(ps::from(memory(10)) | ps::batch(4)).copied == 10 * (16 + 8));
  CHECK(run(ps::from(memory(10)) | ps::select_fields({"x"}) | ps::batch(4)).copied == 10 * 16);
}

TEST_CASE("the last stage that makes a field writes into the batch") {
  // y is still viewed, and copied; x is made in place.
  const ps::Pipeline one = ps::from(memory(6)) | ps::map("x", add_one) | ps::batch(4);
  CHECK(run(one).copied == 6 * 8);
  const ps::Pipeline three =
      ps::from(memory(6)) | ps::map("x", add_one) | ps::map("x", add_one) | ps::map("x", twice) | ps::batch(4);
  CHECK(run(three).copied == 6 * 8);
  const auto x = values<float>(three, "x");
  REQUIRE(x.size() == 24);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == 2 * (static_cast<float>(i) + 2));
}

TEST_CASE("an in-place stage on a store's own memory copies it into the batch first, and leaves the store alone") {
  const ps::Pipeline p = ps::from(memory(6)) | ps::map("x", twice) | ps::batch(4);
  CHECK(run(p).copied == 6 * (16 + 8));
  const auto first = values<float>(p, "x"), second = values<float>(p, "x");
  CHECK(first == second);
  CHECK(first[5] == 10);
}

TEST_CASE("a map to another field keeps the first") {
  const ps::Pipeline p = ps::from(memory(5)) | ps::map("x", add_one, {.out = "z"}) | ps::map("x", twice) | ps::batch(2);
  CHECK(p.schema().to_string() == "{x: f32[4], y: i64[], z: f32[4]}");
  const auto x = values<float>(p, "x"), z = values<float>(p, "z");
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(x[i] == 2 * static_cast<float>(i));
    CHECK(z[i] == static_cast<float>(i) + 1);
  }
  // An output may be a field that exists, made from another one.
  const ps::Pipeline q =
      ps::from(memory(5)) | ps::map("x", add_one, {.out = "z"}) | ps::map("z", add_one, {.out = "x"}) | ps::batch(2);
  CHECK(values<float>(q, "x")[3] == 5);
  CHECK(values<float>(q, "z")[3] == 4);
}

TEST_CASE("a map may change dtype and shape") {
  const ps::Pipeline p = ps::from(memory(5)) |
                         ps::map("x",
                                 [](ps::View<const float, 1> in, ps::View<std::int16_t, 2> out) {
                                   for (int i = 0; i < 4; ++i) out(i / 2, i % 2) = static_cast<std::int16_t>(in(i)*10);
                                 },
                                 {.shape = ps::Shape{2, 2}}) |
                         ps::select_fields({"x"}) | ps::batch(5);
  CHECK(p.schema().to_string() == "{x: i16[2, 2]}");
  const auto x = values<std::int16_t>(p, "x");
  for (std::size_t i = 0; i < 20; ++i) CHECK(x[i] == static_cast<int>(i) * 10);
  CHECK(run(p).copied == 0);
}

TEST_CASE("fields are renumbered when some are left out or change places") {
  const ps::Pipeline p = ps::from(memory(5)) | ps::map("x", add_one, {.out = "a"}) |
                         ps::map("x", add_one, {.out = "b"}) | ps::select_fields({"b", "y", "a"}) |
                         ps::map("a", twice) | ps::batch(2);
  CHECK(p.schema().to_string() == "{b: f32[4], y: i64[], a: f32[4]}");
  CHECK(values<float>(p, "a")[3] == 8);
  CHECK(values<float>(p, "b")[3] == 4);
  CHECK(values<std::int64_t>(p, "y")[3] == 7);
  CHECK(run(p).copied == 5 * 8);
}

namespace {
// Turns x: f32[4] into two fields, the old value read while the new one is written.
struct Parts {
  ps::Schema schema(const ps::Schema& in) const {
    return in.with({"x", ps::DType::f32, {2}}).with({"rest", ps::DType::f32, {2}});
  }
  std::string name() const { return "parts"; }
  void operator()(ps::Sample& s, ps::Context&) const {
    const auto old = s.view<const float, 1>("x");
    auto x = s.emplace<float, 1>("x", {2});
    auto rest = s.emplace<float, 1>("rest", {2});
    for (int i = 0; i < 2; ++i) {
      x(i) = old(2 + i);
      rest(i) = old(i);
    }
  }
};
struct Forgets : Parts {
  void operator()(ps::Sample& s, ps::Context&) const { (void)s.emplace<float, 1>("x", {2}); }
};
struct KeepsOld : Parts {
  void operator()(ps::Sample& s, ps::Context&) const { (void)s.emplace<float, 1>("rest", {2}); }
};
}  // namespace

TEST_CASE("a transform that reshapes reads the old value and writes the new one in place") {
  const ps::Pipeline p = ps::from(memory(5)) | Parts{} | ps::select_fields({"rest", "x"}) | ps::batch(2);
  CHECK(values<float>(p, "x")[1] == 3);
  CHECK(values<float>(p, "rest")[1] == 1);
  CHECK(run(p).copied == 0);
}

TEST_CASE("a transform that forgets a field it declares is told so") {
  const auto first_error = [](const ps::Pipeline& p) {
    ps::Loader loader(p, {.threads = 1});
    return error_of([&] { (void)loader.next(); });
  };
  const auto missing = first_error(ps::from(memory(5)) | Forgets{} | ps::batch(2));
  REQUIRE(missing);
  CHECK(missing->code() == ps::Errc::schema_mismatch);
  CHECK(missing->stage() == "parts");
  CHECK(missing->cause().find("\"rest\"") != std::string::npos);
  const auto stale = first_error(ps::from(memory(5)) | KeepsOld{} | ps::batch(2));
  REQUIRE(stale);
  CHECK(stale->code() == ps::Errc::schema_mismatch);
  CHECK(stale->cause().find("\"x\"") != std::string::npos);
}

namespace {
// x: u32[?], always of 4 elements, and made fixed by a transform that gives a new value to odd records only.
struct Loose : Records {
  ps::Schema schema() const { return {{"x", ps::DType::u32, {ps::dynamic}}, {"y", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto x = out.emplace<std::uint32_t, 1>(0, {4});
    for (int j = 0; j < 4; ++j) x(j) = x_of(i, static_cast<std::uint64_t>(j));
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};
struct Fix {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"x", ps::DType::u32, {4}}); }
  void operator()(ps::Sample& s, ps::Context& context) const {
    if (context.index() % 2 == 0) return;
    const auto old = s.view<const std::uint32_t, 1>("x");
    auto x = s.emplace<std::uint32_t, 1>("x", {4});
    for (int j = 0; j < 4; ++j) x(j) = old(j);
  }
};
}  // namespace

TEST_CASE("a place that one sample did not use is not written by the next") {
  Loose source;
  source.count = 200;
  ps::Loader loader(ps::from(source) | Fix{} | ps::batch(16), {.threads = 1});
  std::uint64_t i = 0;
  for (ps::Batch& b : loader.epoch())
    for (std::uint64_t row = 0; row < b.size(); ++row, ++i)
      for (std::uint64_t j = 0; j < 4; ++j) REQUIRE(b.view<std::uint32_t, 2>("x")(row, j) == x_of(i, j));
  CHECK(i == 200);
}

namespace {
// Values that only a source's mistake can produce.
struct Odd {
  int kind;
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}}, {"f", ps::DType::f32, {2}}}; }
  void read(std::uint64_t, ps::SampleBuilder& out) const {
    static const std::byte some[8] = {};
    if (kind == 0) out.view("x", std::span<const std::byte>{});  // an empty value has no address
    if (kind != 0) out.view("x", std::span<const std::byte>(some));
    if (kind == 1) out.view("f", some, {1});
    if (kind == 2) (void)out.emplace<float, 1>("f", {3});
    if (kind == 3) (void)out.emplace<double, 1>("f", {2});
    if (kind == 5) out.scalar<float>("f", 1.0f);
    if (kind == 6) (void)out.emplace<float, 1>("g", {2});
    if (kind == 0) (void)out.emplace<float, 1>("f", {2});
  }
};
}  // namespace

TEST_CASE("a source that does not keep to its schema is refused, naming the field") {
  for (const int kind : {1, 2, 3, 4, 5, 6}) {  // 4: gives nothing
    CAPTURE(kind);
    const auto error = error_of([&] { (void)ps::from(Odd{kind}).at(0); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::schema_mismatch);
    CHECK(error->stage() == "read");
    CHECK(error->cause().find(kind == 6 ? "\"g\"" : "\"f\"") != std::string::npos);
  }
}

TEST_CASE("an empty value may be given without an address") {
  const ps::OwnedSample sample = ps::from(Odd{0}).at(0);
  CHECK(sample["x"].shape == ps::Shape{0});
}

TEST_CASE("a size whose bytes overflow is refused, not taken for a small one") {
  struct Huge {
    std::uint64_t size() const { return 1; }
    ps::Schema schema() const { return {{"x", ps::DType::f32, {ps::dynamic}}}; }
    void read(std::uint64_t, ps::SampleBuilder& out) const { (void)out.emplace<float, 1>(0, {std::int64_t{1} << 62}); }
  };
  CHECK(error_of([] { (void)ps::from(Huge{}).at(0); })->code() == ps::Errc::limit_exceeded);
  struct Declared {
    std::uint64_t size() const { return 1; }
    ps::Schema schema() const { return {{"x", ps::DType::i64, {std::int64_t{1} << 61}}}; }
    void read(std::uint64_t, ps::SampleBuilder& out) const { (void)out.emplace<std::int64_t, 1>(0, {1}); }
  };
  CHECK(error_of([] { ps::Loader(ps::from(Declared{}) | ps::batch(1)); })->code() == ps::Errc::limit_exceeded);
}

TEST_CASE("a new field that is read before it is given says so") {
  struct Reads {
    int how;
    ps::Schema schema(const ps::Schema& in) const { return in.with({"new", ps::DType::f32, {}}); }
    void operator()(ps::Sample& s, ps::Context&) const {
      if (how == 0) (void)s.scalar<float>("new");
      if (how == 1) (void)s.tensor("new");
      if (how == 2) (void)s.bytes("new");
    }
  };
  for (const int how : {0, 1, 2})
    CHECK(error_of([&] { (void)(ps::from(Records{.count = 1}) | Reads{how}).at(0); })->code() ==
          ps::Errc::schema_mismatch);
}

TEST_CASE("no field becomes larger than max_sample_bytes") {
  const auto code = [](const ps::Pipeline& p) {
    const auto error = error_of([&] {
      ps::Loader loader(p, {.threads = 1});
      (void)loader.next();
    });
    return error ? std::string(ps::to_string(error->code())) + " " + error->stage() : "none";
  };
  const auto pipeline = [](std::uint64_t limit) {
    Loose source;
    source.count = 4;
    return ps::from(source) | ps::check({.max_sample_bytes = limit});
  };
  CHECK(code(pipeline(16) | Fix{} | ps::batch(2)) == "none");
  CHECK(code(pipeline(15) | Fix{} | ps::batch(2)).find("limit_exceeded") == 0);
  // What a stage makes counts as well: x becomes 8 bytes an element.
  const auto widen = ps::map("x", [](ps::View<const std::uint32_t, 1>, ps::View<double, 1>) {}, {.name = "widen"});
  CHECK(code(pipeline(16) | widen | ps::select_fields({"y"}) | ps::batch(2)) == "limit_exceeded widen(x)");
  struct Grow {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"big", ps::DType::u8, {ps::dynamic}}); }
    std::string name() const { return "grow"; }
    void operator()(ps::Sample& s, ps::Context&) const { (void)s.emplace<std::uint8_t, 1>("big", {17}); }
  };
  CHECK(code(pipeline(16) | Grow{} | ps::select_fields({"y"}) | ps::batch(2)) == "limit_exceeded grow");
}

}  // namespace PENSTOCK_TEST_FILE
