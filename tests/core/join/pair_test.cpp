// SPDX-License-Identifier: Apache-2.0
// Which records of several sources belong together.
#include "support/catch.hpp"

#include <map>

#include <penstock/sources/memory.hpp>

#include "core/order/order_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

// A record for each key; its value says which it is.
struct Keyed {
  std::vector<std::string> keys;
  std::string label = "keyed";
  std::vector<std::uint64_t> ends = {};
  std::uint64_t bad = ~std::uint64_t{0};
  std::shared_ptr<std::atomic<std::uint64_t>> asked = std::make_shared<std::atomic<std::uint64_t>>(0);

  std::uint64_t size() const { return keys.size(); }
  ps::Schema schema() const { return {{"n", ps::DType::i64, {}}}; }
  std::string name() const { return label; }
  std::string file() const { return "/data/" + label; }
  std::string key(std::uint64_t i) const {
    ++*asked;
    return keys.at(i);
  }
  std::uint64_t identity() const { return 1; }
  std::vector<std::uint64_t> block_ends() const { return ends; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i == bad) throw ps::Error(ps::Errc::corrupt, "planted").with_index(i).with_offset(9);
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
  }
};

using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

Keyed keyed(Names keys, std::string label = "keyed") { return {.keys = std::move(keys), .label = std::move(label)}; }
ps::AnySource zipped(Names a, Names b, ps::ZipOptions options = {}) {
  return ps::zip({{keyed(std::move(a), "images")}, {keyed(std::move(b), "masks"), "mask_"}}, options);
}
bool zips(Names a, Names b, ps::ZipOptions options = {}) {
  return !error_of([&] { (void)zipped(std::move(a), std::move(b), options); });
}
ps::AnySource paired(Names a, Names b, ps::PairOptions options = {}) {
  return ps::pair({{keyed(std::move(a), "images")}, {keyed(std::move(b), "masks"), "mask_"}}, options);
}
std::string refusal(const std::function<void()>& f) {
  const auto error = error_of(f);
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  return std::string(error->stage()) + ": " + std::string(error->cause());
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("zip refuses records whose keys say that they don't belong together") {
  const auto error = error_of([] { (void)zipped({"a", "b", "c"}, {"b", "c", "d"}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK(error->stage() == "zip");
  CHECK(error->source() == "masks");
  CHECK(error->file() == "/data/masks");
  CHECK(has(std::string(error->cause()), "record 0 is \"a\" in part 0 (images) and \"b\" in part 1 (masks)"));
  CHECK(has(std::string(error->cause()), "pair()"));
  CHECK(has(std::string(error->cause()), "PairBy::position"));
  CHECK(has(refusal([] { (void)zipped({"a", "b", "c"}, {"a", "c", "b"}); }), "record 1 is \"b\""));
  const ps::AnySource all = zipped({"a", "b", "c"}, {"b", "c", "d"}, {.by = ps::PairBy::position});
  CHECK(*ps::read_sample(all, 2)["mask_n"].as<const std::int64_t, 0>().data() == 2);
  CHECK(has(refusal([] { (void)ps::zip(keyed({"a"}), ps::Memory().add<std::uint8_t>("m", {}, {1}), keyed({"b"})); }),
            "part 0 (keyed) and \"b\" in part 2"));
}

TEST_CASE("keys of files agree without their endings, with their folders") {
  CHECK(zips({"a.jpg", "b.jpg"}, {"a.png", "b.png"}));
  CHECK(zips({"a.jpg", "b.JPEG"}, {"a", "b"}));
  CHECK(zips({"cat/7.jpg", "dog/7.jpg"}, {"cat/7.png", "dog/7.png"}));
  CHECK(zips({"x.nii.gz"}, {"x.npy"}));
  CHECK_FALSE(zips({"cat/7.jpg"}, {"dog/7.png"}));
  CHECK_FALSE(zips({"a.1", "a.2"}, {"a.2", "a.1"}));   // a number is no ending
  CHECK_FALSE(zips({"a.long_one"}, {"a.other_one"}));  // nor is this
  CHECK_FALSE(zips({".jpg"}, {".png"}));
  CHECK_FALSE(zips({std::string("\0\0\0.A", 5)}, {std::string("\0\0\0.B", 5)}));
  // One knows no folders.
  CHECK(zips({"cat/7.jpg", "dog/8.jpg"}, {"7.png", "8.png"}));
  CHECK(zips({"7.png", "8.png"}, {"cat/7.jpg", "dog/8.jpg"}));
  CHECK_FALSE(zips({"cat/7.jpg", "dog/8.jpg"}, {"7.png", "9.png"}));
  // Both do, so what is missing is a difference.
  CHECK_FALSE(zips({"cat/7.jpg", "dog/8.jpg"}, {"7.png", "dog/8.png"}));
  CHECK(zips({"img/a.jpg"}, {"masks/a.png"}, {.by = ps::PairBy::name}));
  CHECK_FALSE(zips({"img/a.jpg"}, {"masks/a.png"}));
  CHECK_FALSE(zips({"a.jpg"}, {"a.png"}, {.by = ps::PairBy::key}));
  CHECK(zips({"a.jpg"}, {"a.jpg"}, {.by = ps::PairBy::key}));
}

TEST_CASE("pair joins by keys in the order of the first part") {
  const ps::AnySource all = paired({"b.jpg", "a.jpg", "c.jpg"}, {"a.png", "b.png", "c.png"});
  CHECK(all.schema().to_string() == "{n: i64[], mask_n: i64[]}");
  CHECK(ps::labels_of(all, "n") == Numbers{0, 1, 2});
  CHECK(ps::labels_of(all, "mask_n") == Numbers{1, 0, 2});
  CHECK(all.model()->key(1) == "a.jpg");
  CHECK(all.model()->name() == "pair(images, masks)");
  CHECK(all.model()->notes().empty());
  // By the last part alone where one has no folders; by the whole of it where both have.
  CHECK(ps::labels_of(paired({"cat/1.jpg", "dog/2.jpg"}, {"2.png", "1.png"}), "mask_n") == Numbers{1, 0});
  CHECK(ps::labels_of(paired({"cat/1.jpg", "dog/1.jpg"}, {"dog/1.png", "cat/1.png"}), "mask_n") == Numbers{1, 0});
  CHECK(has(refusal([] {
              (void)paired({"cat/1.jpg", "dog/1.jpg"}, {"1.png", "2.png"});
            }),
            "records 0 and 1 of part 0 have keys that are the same here, \"cat/1.jpg\" and \"dog/1.jpg\""));
  CHECK(ps::labels_of(paired({"img/1", "img/2"}, {"masks/2", "masks/1"}, {.by = ps::PairBy::name}), "mask_n") ==
        Numbers{1, 0});
  // Three.
  const ps::AnySource three = ps::pair({{keyed({"x", "y"})}, {keyed({"y", "x"}), "b_"}, {keyed({"x", "y"}), "c_"}});
  CHECK(ps::labels_of(three, "b_n") == Numbers{1, 0});
  CHECK(ps::labels_of(three, "c_n") == Numbers{0, 1});
}

TEST_CASE("what finds no partner is refused, or left out and counted") {
  const std::string refused = refusal([] { (void)paired({"a", "b", "c", "e"}, {"b", "c", "d"}); });
  CHECK(has(
      refused,
      "pair: 2 of 4 records of part 0 (images /data/images) have no partner (\"a\", \"e\"); 1 of 3 records of part 1 "
      "(masks /data/masks) have no partner (\"d\")"));
  CHECK(has(refused, "leave_out"));
  const ps::AnySource left = paired({"a", "b", "c", "e"}, {"b", "c", "d"}, {.unpaired = ps::Unpaired::leave_out});
  CHECK(ps::labels_of(left, "n") == Numbers{1, 2});
  CHECK(ps::labels_of(left, "mask_n") == Numbers{0, 1});
  REQUIRE(left.model()->notes().size() == 1);
  CHECK(has(left.model()->notes()[0], "2 records have partners by stem"));
  CHECK(has((ps::from(left) | ps::batch(2)).plan(), "left out: 2 of 4 records of part 0 (images /data/images)"));
  CHECK(has(refusal([] { (void)paired({"a"}, {"b"}, {.unpaired = ps::Unpaired::leave_out}); }),
            "no records belong together"));
  Names many;
  for (int i = 0; i < 9; ++i) many.push_back("k" + std::to_string(i));
  CHECK(has(refusal([&] { (void)paired(many, {"k4"}); }),
            "8 of 9 records of part 0 (images /data/images) have no partner (\"k0\", "
            "\"k1\", \"k2\", …)"));
  CHECK(paired({}, {}).size() == 0);
}

TEST_CASE("a key that is there twice is refused by name") {
  for (const auto unpaired : {ps::Unpaired::refuse, ps::Unpaired::leave_out}) {
    const ps::PairOptions options{.unpaired = unpaired};
    CHECK(has(refusal([&] {
                (void)paired({"a", "b"}, {"b", "a.png", "a.jpg"}, options);
              }),
              "records 1 and 2 of part 1 have keys that are the same here, \"a.png\" and \"a.jpg\""));
    CHECK(has(refusal([&] { (void)paired({"z", "a", "b", "z"}, {"b", "a"}, options); }), "records 0 and 3 of part 0"));
    CHECK(has(refusal([&] { (void)paired({"a", "a"}, {"a", "a"}, options); }), "records 0 and 1 of part 0"));
  }
  CHECK(paired({"a.jpg", "a.png"}, {"a.png", "a.jpg"}, {.by = ps::PairBy::key}).size() == 2);
}

TEST_CASE("pairs that make no sense are refused") {
  ps::Memory keyless;
  keyless.add<std::uint8_t>("m", {}, {1});
  CHECK(has(refusal([&] { (void)ps::pair(keyed({"a"}), keyless); }), "part 1 has no keys"));
  CHECK(has(refusal([&] { (void)paired({"a"}, {"a"}, {.by = ps::PairBy::position}); }), "zip()"));
  CHECK(has(refusal([&] { (void)ps::pair({{keyed({"a"})}}); }), "two sources"));
  CHECK(has(refusal([&] { (void)ps::pair(keyed({"a"}), keyed({"a"})); }), "prefix"));
  Keyed failing = keyed({"a", "b"});
  failing.keys.pop_back();
  struct Failing : Keyed {
    std::string key(std::uint64_t i) const { return i == 1 ? throw ps::Error(ps::Errc::io, "gone") : Keyed::key(i); }
  };
  Failing source;
  source.keys = {"a", "b"};
  const auto error = error_of([&] { (void)ps::pair({{keyed({"a", "b"})}, {source, "b_"}}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::io);
  CHECK(error->index() == 1);
}

TEST_CASE("a pair's errors, blocks and identity are those of its records") {
  Keyed images = keyed({"a", "b", "c", "d", "e"}, "images"), masks = keyed({"e", "d", "c", "b"}, "masks");
  images.ends = {1, 3, 5};
  masks.bad = 1;
  const ps::AnySource all = ps::pair({{images}, {masks, "m_"}}, {.unpaired = ps::Unpaired::leave_out});
  const auto error = error_of([&] { (void)ps::from(all).at(2); });
  REQUIRE(error);
  CHECK(error->index() == 2);
  CHECK(error->key() == "d");
  CHECK(error->source() == "masks");
  CHECK(error->offset() == 9);
  CHECK(error->cause() == "planted; it is record 1 of part 1 of pair(images, masks)");
  CHECK(error_of([&] { (void)ps::labels_of(all, "m_n"); })->index() == 2);
  CHECK(all.model()->block_ends() == std::vector<std::uint64_t>{2, 4});
  CHECK(error_of([&] { (void)ps::read_sample(all, 4); })->code() == ps::Errc::not_found);
  const auto identity = [](Names a, Names b) { return paired(std::move(a), std::move(b)).model()->identity(); };
  CHECK(identity({"a", "b"}, {"a", "b"}) == identity({"c", "d"}, {"c", "d"}));
  CHECK(identity({"a", "b"}, {"a", "b"}) != identity({"a", "b"}, {"b", "a"}));
}

TEST_CASE("large pairs agree with a table of their keys") {
  const std::uint64_t n = 20'000;
  Names images, masks;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (mix(i) % 7 != 0) images.push_back("f" + std::to_string(i % 10) + "/" + std::to_string(mix(i)) + ".jpg");
    if (mix(i) % 11 != 0) masks.push_back("f" + std::to_string(i % 10) + "/" + std::to_string(mix(i)) + ".png");
  }
  std::ranges::sort(masks);
  std::map<std::string, std::int64_t> place;
  for (std::size_t i = 0; i < masks.size(); ++i)
    place[masks[i].substr(0, masks[i].size() - 4)] = static_cast<std::int64_t>(i);
  Numbers expected, first;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (const auto found = place.find(images[i].substr(0, images[i].size() - 4)); found != place.end()) {
      first.push_back(static_cast<std::int64_t>(i));
      expected.push_back(found->second);
    }
  const ps::AnySource all = paired(images, masks, {.unpaired = ps::Unpaired::leave_out});
  CHECK(ps::labels_of(all, "n") == first);
  CHECK(ps::labels_of(all, "mask_n") == expected);
}

TEST_CASE("keys in one order are gone over once") {
  Names names;
  for (int i = 0; i < 1000; ++i) names.push_back("k" + std::to_string(1000 + i));
  const Keyed a = keyed(names), b = keyed(names, "b");
  (void)ps::zip({{a}, {b, "b_"}});
  CHECK(*a.asked == 1000);
  CHECK(*b.asked == 1000);
  (void)ps::pair({{a}, {b, "b_"}});
  CHECK(*a.asked == 2000);
  CHECK(*b.asked == 2000);
}

}  // namespace PENSTOCK_TEST_FILE
