// SPDX-License-Identifier: Apache-2.0
// Sources made of sources, record by record.
#include "support/catch.hpp"

#include <map>
#include <set>

#include <penstock/sources/memory.hpp>
#include <penstock/stages/map.hpp>

#include "core/order/order_help.hpp"

using namespace help;

namespace {

// Records that say which source they are of.
struct Named {
  std::uint64_t count = 0;
  std::string label = "a";
  std::int64_t offset = 0;
  std::vector<std::uint64_t> ends = {};
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"n", ps::DType::i64, {}}}; }
  std::string name() const { return label; }
  std::string file() const { return "/data/" + label; }
  std::string key(std::uint64_t i) const { return label + std::to_string(i); }
  std::uint64_t identity() const { return static_cast<std::uint64_t>(offset); }
  std::vector<std::uint64_t> block_ends() const { return ends; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i == 3 && label == "bad") throw ps::Error(ps::Errc::corrupt, "planted").with_index(i).with_offset(17);
    out.scalar<std::int64_t>("n", offset + static_cast<std::int64_t>(i));
  }
};
struct Keyless {
  std::uint64_t size() const { return 4; }
  ps::Schema schema() const { return {{"n", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
  }
};

constexpr ps::ZipOptions by_position{.by = ps::PairBy::position};

std::int64_t n_of(const ps::AnySource& source, std::uint64_t i) {
  return ps::read_sample(source, i)["n"].as<const std::int64_t, 0>().data()[0];
}
std::vector<std::int64_t> all_of(const ps::AnySource& source) { return ps::labels_of(source, "n"); }

// Turns, played one block at a time.
std::vector<std::int64_t> in_turns(const std::vector<std::uint64_t>& sizes, std::uint64_t block) {
  std::vector<std::uint64_t> next(sizes.size());
  std::vector<std::int64_t> out;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (std::uint64_t k = 0; k < block && next[i] < sizes[i]; ++k, any = true)
        out.push_back(static_cast<std::int64_t>(i * 1000 + next[i]++));
  }
  return out;
}

std::vector<ps::AnySource> parts_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<ps::AnySource> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    parts.emplace_back(
        Named{.count = sizes[i], .label = "p" + std::to_string(i), .offset = static_cast<std::int64_t>(i * 1000)});
  return parts;
}

}  // namespace

TEST_CASE("concat is its parts one after the other") {
  for (const std::vector<std::uint64_t>& sizes :
       {std::vector<std::uint64_t>{3, 4}, {0, 2, 0, 0, 3, 0}, {5}, {0}, {1, 1, 1, 1, 1}}) {
    const ps::AnySource all = ps::concat(parts_of(sizes));
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (std::uint64_t k = 0; k < sizes[i]; ++k) expected.push_back(static_cast<std::int64_t>(i * 1000 + k));
    CHECK(all.size() == expected.size());
    CHECK(all_of(all) == expected);
    // Records come right also when they are asked for out of order.
    for (std::uint64_t t = 0; t < 20 && !expected.empty(); ++t) {
      const std::uint64_t i = mix(t) % expected.size();
      REQUIRE(n_of(all, i) == expected[i]);
    }
  }
  const ps::AnySource two = ps::concat(Named{.count = 2, .label = "a"}, Named{.count = 2, .label = "b"});
  CHECK(two.model()->key(2) == "b0");
  CHECK(two.model()->name() == "concat(a, b)");
  CHECK(ps::concat(parts_of({1, 1, 1, 1, 1, 1})).model()->name() == "concat(p0, p1, p2, p3, and 2 more)");
  CHECK_FALSE(ps::concat(Named{.count = 2}, Keyless{}).model()->has_keys());
}

TEST_CASE("names of joins of joins have an end, and a source that is several parts is asked once") {
  ps::AnySource x = ps::share(Named{.count = 1, .label = "x"});
  for (int i = 0; i < 50; ++i) x = ps::concat({x, x});  // asked as often as there are records, it would never answer
  CHECK(x.size() == std::uint64_t{1} << 50);
  CHECK(x.model()->name().size() < 200);
  CHECK(x.model()->name().starts_with("concat(concat(concat("));
  CHECK(x.model()->identity() != ps::concat({x, x}).model()->identity());
  static_cast<void>(x.model()->revision());
  static_cast<void>(x.model()->identified());
  std::string word;
  for (int i = 0; i < 50; ++i) word += "\xe2\x82\xac";
  const std::string cut = ps::concat({ps::share(Named{.count = 1, .label = "a" + word})}).model()->name();
  CHECK((cut.find("…") - std::string("concat(a").size()) % 3 == 0);
}

TEST_CASE("joins can be joined") {
  const auto inner = ps::concat(parts_of({2, 3}));
  const ps::AnySource outer = ps::concat(inner, Named{.count = 2, .label = "z", .offset = 50}, inner);
  CHECK(all_of(outer) == std::vector<std::int64_t>{0, 1, 1000, 1001, 1002, 50, 51, 0, 1, 1000, 1001, 1002});
  CHECK(outer.model()->key(8) == "p01");
}

TEST_CASE("interleaved parts take turns until they are exhausted") {
  for (std::uint64_t t = 0; t < 300; ++t) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < 1 + mix(t) % 8; ++i) {
      const std::uint64_t r = mix(t * 50 + i);
      sizes.push_back(r % 4 == 0 ? 8 : (r >> 8) % (t % 2 == 0 ? 5 : 70));
    }
    for (const std::uint64_t block : {std::uint64_t{1}, std::uint64_t{2}, 1 + mix(t + 3) % 20, ~std::uint64_t{0}}) {
      CAPTURE(t, block, sizes.size());
      REQUIRE(all_of(ps::interleave(parts_of(sizes), {.block = block})) ==
              in_turns(sizes, std::min<std::uint64_t>(block, 1000)));
    }
  }
  CHECK(all_of(ps::interleave(Named{.count = 3}, Named{.count = 1, .offset = 10}, {.block = 2})) ==
        std::vector<std::int64_t>{0, 1, 10, 2});
  CHECK(ps::interleave(Named{.count = 3, .label = "a"}, Named{.count = 1, .label = "b"}).model()->key(1) == "b0");
  CHECK(error_of([] { (void)ps::interleave(parts_of({1}), {.block = 0}); })->stage() == "interleave");
}

TEST_CASE("parts with other fields are refused by what differs") {
  struct Other : Named {
    ps::Schema fields;
    ps::Schema schema() const { return fields; }
  };
  const auto refusal = [](ps::Schema fields) {
    Other other;
    other.label = "other";
    other.fields = std::move(fields);
    const auto error = error_of([&] { (void)ps::concat(Named{}, other); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::schema_mismatch);
    CHECK(error->stage() == "concat");
    CHECK(error->source() == "other");
    CHECK(error->file() == "/data/other");
    return error->cause();
  };
  CHECK(refusal({{"n", ps::DType::i32, {}}}).find("field \"n\" is i64[] there and i32[] here") != std::string::npos);
  CHECK(refusal({{"n", ps::DType::i64, {2}}}).find("i64[2] here") != std::string::npos);
  CHECK(refusal({{"m", ps::DType::i64, {}}}).find("\"n\" there and \"m\" here") != std::string::npos);
  CHECK(refusal({{"n", ps::DType::i64, {}}, {"x", ps::DType::u8, {}}}).find("\"x\" is missing there") !=
        std::string::npos);
  CHECK(refusal({{"n", ps::DType::i64, {}, ps::Collate::ragged()}}).find("ragged here") != std::string::npos);
  CHECK(error_of([] { (void)ps::concat(std::vector<ps::AnySource>{}); })->code() == ps::Errc::invalid_argument);
  Named huge{.count = std::uint64_t{1} << 62};
  CHECK(error_of([&] { (void)ps::concat(huge, Named{.count = 1}); })->cause().find("2^62") != std::string::npos);
}

TEST_CASE("an error of a joined record names the part, its file, its key and its own index") {
  const Named good{.count = 10, .label = "good"}, bad{.count = 10, .label = "bad"};
  const ps::AnySource all = ps::concat(good, bad);
  const auto check = [](const std::optional<ps::Error>& error, std::uint64_t index) {
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::corrupt);
    CHECK(error->source() == "bad");
    CHECK(error->file() == "/data/bad");
    CHECK(error->key() == "bad3");
    CHECK(error->index() == index);
    CHECK(error->offset() == 17);
    CHECK(error->cause().find("planted") != std::string::npos);
  };
  const auto error = error_of([&] { (void)ps::from(all).at(13); });
  check(error, 13);
  CHECK(error->cause() == "planted; it is record 3 of part 1 of concat(good, bad)");
  CHECK(error->stage() == "read");
  check(error_of([&] { (void)ps::labels_of(all, "n"); }), 13);
  check(error_of([&] { (void)ps::from(ps::interleave(good, bad)).at(7); }), 7);
  const auto nested = error_of([&] { (void)ps::from(ps::concat(good, all)).at(23); });
  check(nested, 23);
  CHECK(nested->cause().find("record 3 of part 1 of concat(good, bad); it is record 13 of part 1 of concat(good, "
                             "concat(good, bad))") != std::string::npos);
  check(error_of([&] { (void)ps::from(ps::zip({{good, "g_"}, bad}, by_position)).at(3); }), 3);
  // A later stage that fails names the record as well.
  const auto stage = ps::map("n", [](ps::View<const std::int64_t, 0>, ps::View<std::int64_t, 0>) {
    throw ps::Error(ps::Errc::corrupt, "planted later");
  });
  const auto later = error_of([&] { (void)(ps::from(all) | stage).at(12); });
  REQUIRE(later);
  CHECK(later->source() == "bad");
  CHECK(later->key() == "bad2");
  CHECK(later->index() == 12);
  CHECK(later->cause().find("record 2 of part 1") != std::string::npos);
  CHECK(later->stage() == "map(n)");
}

TEST_CASE("past the end of a join there is no record") {
  // A part is advised only of records that it has.
  struct Advised : Named {
    std::shared_ptr<std::vector<std::uint64_t>> seen = std::make_shared<std::vector<std::uint64_t>>();
    void will_need(std::span<const std::uint64_t> indices) const noexcept {
      seen->insert(seen->end(), indices.begin(), indices.end());
    }
  };
  Advised first, second;
  first.count = 5, second.count = 5;
  const std::vector<ps::AnySource> joins{
      ps::concat(first, second), ps::interleave(first, second), ps::interleave({first, second}, {.block = 3}),
      ps::zip({{first, "a_"}, second}, by_position), ps::concat(Named{.count = 0}, Named{})};
  for (const ps::AnySource& join : joins) {
    const std::uint64_t size = join.size();
    for (const std::uint64_t index : {size, size + 90, ~std::uint64_t{0}}) {
      CAPTURE(join.model()->name(), index);
      const auto check = [&](const std::optional<ps::Error>& error) {
        REQUIRE(error);
        CHECK(error->code() == ps::Errc::not_found);
        CHECK(error->index() == index);
        CHECK(error->source() == join.model()->name());
        CHECK(error->cause() == "there are " + std::to_string(size) + " records");
      };
      check(error_of([&] { (void)ps::read_sample(join, index); }));
      check(error_of([&] { (void)join.model()->key(index); }));
      check(error_of([&] {
        ps::Error error(ps::Errc::corrupt, "planted");
        join.model()->describe(index, error);
      }));
      const auto reader = join.model()->open_reader();
      const std::vector<std::uint64_t> indices{index};
      reader->expect(indices);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    first.seen->clear(), second.seen->clear();
    joins[i].model()->will_need(std::vector<std::uint64_t>{10, 9, ~std::uint64_t{0}, 0, 100});
    CHECK(*first.seen == std::vector<std::uint64_t>{0});
    CHECK(*second.seen == std::vector<std::uint64_t>{4});
  }
}

TEST_CASE("the identity of a join is that of its parts, in their order") {
  const Named a{.count = 3, .label = "a", .offset = 1}, b{.count = 3, .label = "b", .offset = 2};
  std::set<std::uint64_t> seen;
  const auto add = [&](const ps::AnySource& source) { seen.insert(ps::from(source).fingerprint()); };
  add(ps::concat(a, b));
  add(ps::concat(b, a));
  add(ps::concat(a, a));
  add(ps::interleave(a, b));
  add(ps::interleave(b, a));
  add(ps::interleave(a, b, {.block = 2}));
  add(ps::zip({a, {b, "b_"}}, by_position));
  add(ps::zip({b, {a, "b_"}}, by_position));
  add(ps::zip({a, {b, "c_"}}, by_position));
  add(ps::concat(Named{.count = 2, .offset = 1}, Named{.count = 4, .offset = 2}));
  CHECK(seen.size() == 10);
  add(ps::concat(a, b));
  CHECK(seen.size() == 10);
}

TEST_CASE("blocks of joins") {
  const Named a{.count = 5, .ends = {2, 5}}, b{.count = 3, .ends = {1, 2, 3}}, none{.count = 4};
  using Ends = std::vector<std::uint64_t>;
  CHECK(ps::concat(a, b).model()->block_ends() == Ends{2, 5, 6, 7, 8});
  CHECK(ps::concat(a, Named{}, b).model()->block_ends() == Ends{2, 5, 6, 7, 8});
  CHECK(ps::concat(a, none).model()->block_ends().empty());
  CHECK(ps::interleave(a, b).model()->block_ends().empty());
  CHECK(ps::zip({{Named{.count = 5}, "x"}, a}, by_position).model()->block_ends() == Ends{2, 5});
  const ps::Pipeline p = ps::from(ps::concat(a, b)) | ps::shuffle({.blocks = true, .window_blocks = 2});
  CHECK(sorted(order_of(p)) == numbers(8));
}

TEST_CASE("zipped records have the fields of all parts") {
  ps::Memory labels;
  labels.add<std::uint8_t>("label", {}, {5, 6, 7});
  const Records images{.count = 3};
  const ps::AnySource all =
      ps::zip({{images, "a_"},
               labels,
               {ps::zip(Records{.count = 3, .width = 2}, ps::share(Named{.count = 3}), by_position), "b_"}});
  CHECK(all.schema().to_string() == "{a_x: u32[4], a_y: i64[], label: u8[], b_x: u32[2], b_y: i64[], b_n: i64[]}");
  for (std::uint64_t i = 0; i < 3; ++i) {
    const ps::OwnedSample sample = ps::read_sample(all, i);
    CHECK(sample["a_x"].as<const std::uint32_t, 1>()(3) == x_of(i, 3));
    CHECK(*sample["a_y"].as<const std::int64_t, 0>().data() == static_cast<std::int64_t>(i));
    CHECK(*sample["label"].as<const std::uint8_t, 0>().data() == 5 + i);
    CHECK(sample["b_x"].as<const std::uint32_t, 1>()(1) == x_of(i, 1));
    CHECK(*sample["b_n"].as<const std::int64_t, 0>().data() == static_cast<std::int64_t>(i));
  }
  CHECK(all.model()->key(1) == "key-1");
  CHECK(ps::zip(labels, ps::share(images)).model()->key(2) == "key-2");
  CHECK(ps::zip(labels, ps::share(images)).model()->file() == "/nowhere/records");
}

TEST_CASE("a part of a zip is held to its own fields") {
  struct Wrong : Named {
    int how = 0;
    void read(std::uint64_t, ps::SampleBuilder& out) const {
      if (how == 0) out.scalar<std::int32_t>("n", 1);
      if (how == 1) out.emplace<std::int64_t, 1>("m", {1});
    }
  };
  for (const int how : {0, 1, 2}) {
    CAPTURE(how);
    Wrong wrong;
    wrong.count = 5;
    wrong.label = "wrong";
    wrong.how = how;
    const auto error = error_of([&] {
      (void)ps::from(ps::zip({Named{.count = 5}, {wrong, "w_"}}, by_position)).at(2);
    });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::schema_mismatch);
    CHECK(error->index() == 2);
    if (how != 1) CHECK(error->cause().find("\"w_n\"") != std::string::npos);
    if (how == 1) CHECK(error->cause().find("{n: i64[]}") != std::string::npos);
  }
}

TEST_CASE("zips that make no sense are refused") {
  const auto sizes = error_of([] { (void)ps::zip(Named{.count = 3}, Records{.count = 4}); });
  REQUIRE(sizes);
  CHECK(sizes->stage() == "zip");
  CHECK(sizes->source() == "records");
  CHECK(sizes->cause().find("part 1 has 4 records, but part 0 (a) has 3") != std::string::npos);
  const auto names = error_of([] { (void)ps::zip(Named{.count = 3}, Named{.count = 3, .label = "b"}, by_position); });
  REQUIRE(names);
  CHECK(names->source() == "b");
  CHECK(names->cause().find("\"n\"") != std::string::npos);
  CHECK(names->cause().find("prefix") != std::string::npos);
  CHECK(error_of([] { (void)ps::zip(std::vector<ps::ZipPart>{}); })->code() == ps::Errc::invalid_argument);
}

TEST_CASE("a mixture has its proportions in every window and each part's records in turn") {
  const Named a{.count = 70, .label = "a"}, b{.count = 11, .label = "b"}, c{.count = 300, .label = "c"};
  const ps::Pipeline p = ps::mix({{a, 0.7}, {b, 0.2}, {c, 0.1}}, {.count = 640, .seed = 3});
  CHECK(p.size() == 640);
  const std::vector<std::uint64_t> ends{70, 81, 381};
  const auto part = [&](std::uint64_t i) { return std::ranges::upper_bound(ends, i) - ends.begin(); };
  std::map<std::ptrdiff_t, std::vector<std::uint64_t>> sequences;
  std::map<std::ptrdiff_t, double> drawn;
  double total = 0;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto order = order_of(p, epoch);
    CHECK(order == order_of(p, epoch));
    for (std::size_t k = 0; k < order.size(); ++k) {
      sequences[part(order[k])].push_back(order[k]);
      ++drawn[part(order[k])];
      ++total;
      if ((k + 1) % 64 != 0) continue;
      REQUIRE(std::abs(drawn[0] - 0.7 * total) < 1.5);
      REQUIRE(std::abs(drawn[1] - 0.2 * total) < 1.5);
      REQUIRE(std::abs(drawn[2] - 0.1 * total) < 1.5);
    }
    CHECK(drawn[0] == 448 * static_cast<double>(epoch + 1));
  }
  for (const auto& [which, sequence] : sequences) {
    const std::uint64_t begin = which == 0 ? 0 : ends[static_cast<std::size_t>(which) - 1],
                        n = ends[static_cast<std::size_t>(which)] - begin;
    std::set<std::vector<std::uint64_t>> passes;
    for (std::size_t at = 0; at + n <= sequence.size(); at += n) {
      const std::vector<std::uint64_t> pass(sequence.begin() + static_cast<std::ptrdiff_t>(at),
                                            sequence.begin() + static_cast<std::ptrdiff_t>(at + n));
      auto expected = numbers(n);
      for (std::uint64_t& i : expected) i += begin;
      REQUIRE(sorted(pass) == expected);
      CHECK(passes.insert(pass).second);
    }
    CHECK(passes.size() == sequence.size() / n);
  }
  CHECK(same_in_any_access(p, 5, scaled(1000)));
}

TEST_CASE("shares that come out even are exact in every epoch") {
  for (std::uint64_t t = 0; t < 200; ++t) {
    std::vector<ps::MixPart> parts;
    std::vector<std::uint64_t> shares, seen;
    for (std::uint64_t i = 0; i < 2 + mix(t) % 6; ++i) shares.push_back(1 + mix(t * 10 + i) % 20);
    const std::uint64_t sum = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
    for (const std::uint64_t share : shares)
      parts.emplace_back(Named{.count = 10}, static_cast<double>(share) / static_cast<double>(sum));
    const ps::Pipeline p = ps::mix(parts, {.count = sum});
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      seen.assign(shares.size(), 0);
      for (const std::uint64_t i : order_of(p, epoch)) ++seen[i / 10];
      REQUIRE(seen == shares);
    }
  }
}

TEST_CASE("the size of a mixture, and what is refused") {
  const Named a{.count = 70, .label = "a"}, b{.count = 30, .label = "b"}, empty{.label = "empty"};
  CHECK(ps::mix({{a, 1}, {b, 3}}).size() == 100);
  CHECK(ps::mix({{a, 1}, {b, 0}}).size() == 70);
  for (const std::uint64_t i : order_of(ps::mix({{a, 0}, {b, 2}, {empty, 0}}))) REQUIRE(i >= 70);
  const auto refused = [](std::vector<ps::MixPart> parts, ps::MixOptions options = {}) {
    const auto error = error_of([&] { (void)ps::mix(std::move(parts), options); });
    return error && error->code() == ps::Errc::invalid_argument ? error->cause() : "";
  };
  CHECK(refused({{a, 1}, {b, -1}}).find("weight 1") != std::string::npos);
  CHECK(refused({{a, 0}}).find("above 0") != std::string::npos);
  CHECK(refused({{a, std::nan("")}}).find("weight 0") != std::string::npos);
  CHECK(refused({{a, 1}, {empty, 1}}).find("part 1 is empty") != std::string::npos);
  CHECK(refused({{a, 1}}, {.count = ~std::uint64_t{0}}).find("2^62") != std::string::npos);
  CHECK_FALSE(refused({}).empty());
  std::set<std::uint64_t> seen{ps::mix({{a, 1}, {b, 3}}).fingerprint(), ps::mix({{a, 1}, {b, 2}}).fingerprint(),
                               ps::mix({{b, 1}, {a, 3}}).fingerprint(),
                               ps::mix({{a, 1}, {b, 3}}, {.count = 9}).fingerprint(),
                               ps::mix({{a, 1}, {b, 3}}, {.seed = 9}).fingerprint()};
  CHECK(seen.size() == 5);
}
