// SPDX-License-Identifier: Apache-2.0
// What numbers of classes mean where sources are joined, and on their way through a pipeline.
#include "support/catch.hpp"

#include <cstring>
#include <map>
#include <set>

#include <penstock/classes.hpp>
#include <penstock/stages/draw.hpp>
#include <penstock/stages/map.hpp>

#include "core/order/order_help.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using penstock_test::code_of;
using penstock_test::error_of;
using penstock_test::mentions;

namespace {

// Records of a label each, which knows the names of its classes; in blocks of `per_block` where that is not 0.
struct Labelled {
  std::vector<std::uint8_t> labels;
  ps::ClassNames classes;
  std::uint64_t per_block = 0;
  bool says_labels = false;

  std::uint64_t size() const { return labels.size(); }
  ps::Schema schema() const { return {{"label", ps::DType::u8, {}, {}, classes}, {"n", ps::DType::i64, {}}}; }
  std::string name() const { return "labelled"; }
  std::string key(std::uint64_t i) const { return "k" + std::to_string(i); }
  std::uint64_t identity() const { return labels.size(); }
  std::optional<std::vector<std::int64_t>> all_labels(std::string_view field) const {
    if (!says_labels || field != "label") return std::nullopt;
    return std::vector<std::int64_t>(labels.begin(), labels.end());
  }
};
struct Plain : Labelled {
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const { return all_labels(field); }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    out.view(0, reinterpret_cast<const std::byte*>(&Labelled::labels[i]), {});
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};
struct InBlocks : Labelled {
  std::uint64_t blocks() const { return (size() + per_block - 1) / per_block; }
  std::uint64_t block_bytes(std::uint64_t) const { return per_block; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / per_block); }
  std::optional<ps::BlockRows> rows_of(std::uint64_t block) const {
    if ((block + 1) * per_block > size()) return std::nullopt;
    return ps::BlockRows{0, block * per_block, per_block};
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    const std::uint64_t first = block * per_block;
    std::memcpy(bytes.data(), &labels[first], std::min(per_block, size() - first));
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    out.view(0, blocks[0].data() + i % per_block, {});
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};

ps::AnySource labelled(std::vector<std::uint8_t> labels, ps::ClassNames classes, bool says_labels = true) {
  return Plain{{std::move(labels), std::move(classes), 0, says_labels}};
}
std::vector<std::int64_t> labels_in(const ps::AnySource& source) {
  std::vector<std::int64_t> read;
  for (std::uint64_t i = 0; i < source.size(); ++i)
    read.push_back(ps::read_sample(source, i)["label"].as<const std::uint8_t, 0>().data()[0]);
  CHECK(ps::labels_of(source, "label") == read);
  return read;
}
const ps::ClassNames& classes_of(const ps::Schema& schema) { return schema.at("label").classes; }
using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("joins map classes by name") {
  const ps::AnySource train = labelled({0, 1, 2, 1}, {"ant", "bee", "cow"}), test = labelled({0, 1}, {"ant", "cow"});
  const ps::AnySource both = ps::concat({train, test});
  CHECK(labels_in(both) == Numbers{0, 1, 2, 1, 0, 2});
  CHECK(classes_of(both.schema()) == ps::ClassNames{"ant", "bee", "cow"});
  CHECK(labels_in(ps::concat({test, train})) == Numbers{0, 2, 0, 1, 2, 1});
  CHECK(labels_in(ps::interleave({train, test})) == Numbers{0, 0, 1, 2, 2, 1});
  CHECK(labels_in(ps::concat({test, ps::concat({train, test})})) == Numbers{0, 2, 0, 1, 2, 1, 0, 2});

  // No part has all classes: they are all names, in the order of their bytes.
  const ps::AnySource others = labelled({1, 0}, {"dog", "bee"}, false);
  const ps::AnySource all = ps::concat({test, others});
  CHECK(classes_of(all.schema()) == ps::ClassNames{"ant", "bee", "cow", "dog"});
  CHECK(labels_in(all) == Numbers{0, 2, 1, 3});
  // One that has them keeps its numbers, in whatever order.
  const ps::AnySource largest = labelled({0, 2}, {"cow", "bee", "ant"});
  CHECK(labels_in(ps::concat({test, largest})) == Numbers{2, 0, 0, 2});
  CHECK(classes_of(ps::concat({largest, largest}).schema()) == ps::ClassNames{"cow", "bee", "ant"});

  std::map<std::int64_t, std::set<std::int64_t>> seen;  // which numbers a record's own number has
  const ps::Pipeline mixed = ps::mix({{train, 1}, {labelled({0, 1}, {"cow", "ant"}), 1}}, {.count = 100});
  CHECK(classes_of(mixed.schema()) == ps::ClassNames{"ant", "bee", "cow"});
  for (std::uint64_t i = 0; i < 100; ++i) {
    const ps::OwnedSample sample = mixed.at(i);
    seen[sample["n"].as<const std::int64_t, 0>().data()[0]].insert(
        sample["label"].as<const std::uint8_t, 0>().data()[0]);
  }
  CHECK(seen == std::map<std::int64_t, std::set<std::int64_t>>{{0, {0, 2}}, {1, {0, 1}}, {2, {2}}, {3, {1}}});
}

TEST_CASE("a part that names no classes is not joined to one that does, unless numbers are wanted as they are") {
  const ps::AnySource named = labelled({0, 1}, {"ant", "cow"}), unnamed = labelled({0, 1}, {});
  for (const auto& parts : {std::vector{named, unnamed}, std::vector{unnamed, named}}) {
    const ps::Error error = error_of([&] { ps::concat(parts); });
    CHECK(error.code() == ps::Errc::schema_mismatch);
    CHECK(mentions(error, "2 classes: 0 ant, 1 cow"));
    CHECK(mentions(error, "none in part"));
    CHECK(mentions(error, "name_classes"));
    CHECK(mentions(error, "ClassMatching::as_numbers"));
    CHECK(code_of([&] { ps::interleave(parts); }) == ps::Errc::schema_mismatch);
    CHECK(code_of([&] { ps::mix({{parts[0], 1}, {parts[1], 1}}); }) == ps::Errc::schema_mismatch);
    const ps::AnySource numbers = ps::concat(parts, {.classes = ps::ClassMatching::as_numbers});
    CHECK(labels_in(numbers) == Numbers{0, 1, 0, 1});
    CHECK(classes_of(numbers.schema()).empty());
    CHECK(ps::interleave(parts, {.classes = ps::ClassMatching::as_numbers}).size() == 4);
    CHECK(ps::mix({{parts[0], 1}, {parts[1], 1}}, {.classes = ps::ClassMatching::as_numbers}).size() == 4);
  }
  CHECK(labels_in(ps::concat({named, ps::name_classes(unnamed, "label", {"cow", "bee"})})) == Numbers{0, 2, 2, 1});
  const ps::AnySource other = labelled({0, 1}, {"cow", "ant"});
  const ps::AnySource numbers = ps::concat({named, other}, {.classes = ps::ClassMatching::as_numbers});
  CHECK(labels_in(numbers) == Numbers{0, 1, 0, 1});
  CHECK(classes_of(numbers.schema()).empty());
  CHECK(classes_of(ps::concat({named, named}, {.classes = ps::ClassMatching::as_numbers}).schema()).size() == 2);
}

TEST_CASE("classes are renumbered as somebody wants them, or refused") {
  const ps::AnySource source = labelled({0, 1, 2, 3}, {"ant", "bee", "cow", "ant"});
  CHECK(code_of([&] { ps::map_classes(source, "label", {"cow", "ant"}); }) == ps::Errc::schema_mismatch);
  const ps::Error twice = error_of([&] { ps::map_classes(source, "label", {"cow", "bee", "ant"}); });
  CHECK(mentions(twice, "several classes are named \"ant\""));
  CHECK(ps::map_classes(source, "label", {"ant", "bee", "cow", "ant"}).model() == source.model());

  const ps::AnySource good = labelled({0, 1, 2, 7}, {"ant", "bee", "cow"}, false);
  const ps::AnySource mapped = ps::map_classes(good, "label", {"cow", "dog", "bee", "ant"});
  CHECK(ps::read_sample(mapped, 0)["label"].as<const std::uint8_t, 0>().data()[0] == 3);
  CHECK(ps::read_sample(mapped, 2)["label"].as<const std::uint8_t, 0>().data()[0] == 0);
  const ps::Error missing = error_of([&] { ps::map_classes(good, "label", {"cow", "bee"}); });
  CHECK(mentions(missing, "the class \"ant\" is not among the 2 classes: 0 cow, 1 bee"));
  CHECK(code_of([&] { ps::map_classes(labelled({0}, {}), "label", {"x"}); }) == ps::Errc::schema_mismatch);
  CHECK(code_of([&] { ps::map_classes(good, "other", {"x"}); }) == ps::Errc::schema_mismatch);
  CHECK(code_of([&] { ps::name_classes(good, "other", {"x"}); }) == ps::Errc::schema_mismatch);

  // A number of no class is a bad sample like any other.
  ps::Loader loader(ps::from(mapped) | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(4));
  std::vector<std::uint8_t> seen;
  for (ps::Batch& batch : loader.epoch())
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(batch.size()); ++i)
      seen.push_back(batch.view<std::uint8_t, 1>("label")(i));
  CHECK(seen == std::vector<std::uint8_t>{3, 2, 0});
  const ps::Error bad = error_of([&] {
    ps::Loader strict(ps::from(mapped) | ps::batch(4));
    for (ps::Batch& batch : strict.epoch()) static_cast<void>(batch);
  });
  CHECK(bad.code() == ps::Errc::unsupported);
  CHECK(bad.key() == "k3");
  CHECK(bad.index() == 3);
  CHECK(mentions(bad, "field \"label\": the number 7 stands for no class: there are 0 to 2"));

  std::vector<std::string> many(300);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::to_string(i);
  CHECK(mentions(error_of([&] { ps::map_classes(labelled({0}, {"299"}), "label", many); }), "u8 does not hold"));
}

TEST_CASE("drawn joins mean what their names say, from blocks and rows, at any number of threads") {
  for (std::uint64_t seed = 0; seed < scaled(60, 10); ++seed) {
    const std::vector<std::string> all{"a", "b", "c", "d", "e", "f"};
    std::vector<ps::AnySource> parts;
    std::vector<std::string> expected;  // the class of each record, by name
    for (std::uint64_t part = 0; part < 1 + mix(seed) % 4; ++part) {
      std::vector<std::string> own = all;
      for (std::size_t i = own.size(); i-- > 1;) std::swap(own[i], own[mix(seed * 100 + part * 10 + i) % (i + 1)]);
      own.resize(1 + mix(seed * 7 + part) % own.size());
      std::vector<std::uint8_t> labels(20 + mix(seed * 5 + part) % 60);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::uint8_t>(mix(seed * 1000 + part * 100 + i) % own.size());
        expected.push_back(own[labels[i]]);
      }
      const std::uint64_t per_block = 1 + mix(seed + part * 3) % 9;
      if (mix(seed * 3 + part) % 2 == 0)
        parts.push_back(InBlocks{{labels, own, per_block, false}});
      else
        parts.push_back(labelled(labels, own, part % 2 == 0));
    }
    const ps::AnySource joined = ps::concat(parts);
    const ps::ClassNames classes = classes_of(joined.schema());
    const std::vector<std::int64_t> told = ps::labels_of(joined, "label");
    REQUIRE(told.size() == expected.size());
    for (std::size_t i = 0; i < told.size(); ++i) REQUIRE(classes[static_cast<std::size_t>(told[i])] == expected[i]);
    // In order whole blocks stand in a batch, and may be decoded there.
    const ps::Pipeline ordered = seed % 2 == 0 ? ps::from(joined) : ps::from(joined) | ps::shuffle({.seed = seed});
    ps::Loader loader(ordered | ps::batch(1 + mix(seed) % 64), {.threads = 1 + static_cast<unsigned>(seed % 3)});
    std::uint64_t rows = 0;
    for (ps::Batch& batch : loader.epoch()) {
      REQUIRE(batch.schema().at("label").classes == classes);
      const auto labels = batch.view<std::uint8_t, 1>("label");
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(batch.size()); ++i, ++rows)
        REQUIRE(classes[labels(i)] == expected[batch.indices()[static_cast<std::size_t>(i)]]);
    }
    REQUIRE(rows == expected.size());
  }
}

TEST_CASE("names of classes go through a pipeline until somebody changes the numbers") {
  const ps::ClassNames classes{"ant", "bee"};
  const ps::Pipeline pipeline = ps::from(labelled({0, 1, 1}, classes));
  CHECK(classes_of(pipeline.schema()) == classes);
  CHECK(pipeline.plan().find("label stands for 2 classes: 0 ant, 1 bee\n") != std::string::npos);
  ps::Loader loader(pipeline | ps::map("n", [](ps::View<std::int64_t, 0> n) { ++n(); }) | ps::batch(2));
  for (ps::Batch& batch : loader.epoch()) CHECK(classes_of(batch.schema()) == classes);
  CHECK((pipeline | ps::rename("label", "kind")).schema().at("kind").classes == classes);
  CHECK(classes_of((pipeline | ps::filter("n", [](ps::View<const std::int64_t, 0> n) { return n() != 0; })).schema()) ==
        classes);
  CHECK(ps::zip({pipeline.schema().size() != 0 ? labelled({0}, classes) : labelled({0}, {}), {labelled({1}, {}), "b_"}})
            .schema()
            .at("label")
            .classes == classes);

  const auto swap = [](ps::View<std::uint8_t, 0> label) { label() = static_cast<std::uint8_t>(1 - label()); };
  const auto fresh = [](ps::View<const std::uint8_t, 0> label, ps::View<std::int32_t, 0> out) { out() = label(); };
  CHECK(classes_of((pipeline | ps::map("label", swap)).schema()).empty());
  CHECK(classes_of((pipeline | ps::map("label", fresh)).schema()).empty());
  CHECK(classes_of((pipeline | ps::map("label", swap, {.classes = {"bee", "ant"}})).schema()) ==
        ps::ClassNames{"bee", "ant"});
  CHECK(code_of([&] {
          static_cast<void>(pipeline | ps::map("label", fresh, {.classes = {"x"}, .keep_classes = true}));
        }) == ps::Errc::invalid_argument);
  const ps::Pipeline kept = pipeline | ps::map("label", fresh, {.keep_classes = true});
  CHECK(classes_of(kept.schema()) == classes);
  CHECK(kept.at(1)["label"].as<const std::int32_t, 0>().data()[0] == 1);
  const ps::Pipeline swapped = pipeline | ps::map("label", swap, {.classes = {"bee", "ant"}});
  CHECK(swapped.at(0)["label"].as<const std::uint8_t, 0>().data()[0] == 1);
}

TEST_CASE("a state is of its classes") {
  const auto fingerprint = [](const ps::AnySource& source) { return (ps::from(source) | ps::batch(2)).fingerprint(); };
  const ps::AnySource a = labelled({0, 1, 1}, {"ant", "bee"}), b = labelled({0, 1, 1}, {"bee", "ant"});
  CHECK(fingerprint(a) == fingerprint(labelled({0, 1, 1}, {"ant", "bee"})));
  CHECK(fingerprint(a) != fingerprint(b));
  CHECK(fingerprint(a) != fingerprint(labelled({0, 1, 1}, {})));
  // A part in which the same classes have other numbers makes another fingerprint.
  CHECK(fingerprint(ps::concat({a, a})) != fingerprint(ps::concat({a, b})));
  const ps::AnySource c = labelled({0, 1, 1}, {"ant", "cow"}), d = labelled({0, 1, 1}, {"cow", "ant"});
  CHECK(fingerprint(ps::concat({a, c})) != fingerprint(ps::concat({a, d})));

  // A fingerprint tells which of two fields was renumbered.
  const ps::ClassNames xy{"x", "y"}, yx{"y", "x"};
  const auto joined = [&](const ps::ClassNames& first, const ps::ClassNames& second) {
    const auto part = [&](const ps::ClassNames& one, const ps::ClassNames& other) {
      return ps::zip({{labelled({0, 1}, one), "a_"}, {labelled({1, 0}, other), "b_"}});
    };
    return ps::concat({part(xy, xy), part(first, second)});
  };
  CHECK(fingerprint(joined(yx, xy)) != fingerprint(joined(xy, yx)));

  ps::Loader saved(ps::from(a) | ps::batch(2));
  for (ps::Batch& batch : saved.epoch()) static_cast<void>(batch);
  ps::Loader other(ps::from(b) | ps::batch(2));
  CHECK(code_of([&] { other.resume(saved.state()); }) == ps::Errc::state_mismatch);
}

TEST_CASE("names of classes are a value") {
  const ps::ClassNames none, three{"a", "", "a"};
  CHECK(none.empty());
  CHECK(none == ps::ClassNames(std::vector<std::string>{}));
  CHECK(none.to_string() == "no names of classes");
  CHECK(three.size() == 3);
  CHECK(three.find("a") == 0);
  CHECK(three.find("") == 1);
  CHECK_FALSE(three.find("b"));
  CHECK(three == ps::ClassNames::from_lines("a\r\n\na"));
  CHECK(three == ps::ClassNames::from_lines("a\n\na\n"));
  CHECK(three == ps::ClassNames::from_lines("\xef\xbb\xbf"
                                            "a\n\na\n"));
  CHECK(ps::ClassNames::from_lines("").empty());
  CHECK(ps::ClassNames{"x", "y\n"}.to_string() == "2 classes: 0 x, 1 y\\x0a");
  CHECK(ps::ClassNames(std::vector<std::string>(9, "x")).to_string() == "9 classes: 0 x, 1 x, 2 x, 3 x, 4 x, 5 x, ...");
  CHECK(code_of([] { ps::Schema{{"x", ps::DType::f32, {}, {}, {"a"}}}; }) == ps::Errc::invalid_argument);
}

}  // namespace PENSTOCK_TEST_FILE
