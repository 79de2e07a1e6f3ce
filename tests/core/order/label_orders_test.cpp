// SPDX-License-Identifier: Apache-2.0
// Draws and splits that go by a field of the source.
#include "support/catch.hpp"

#include <map>
#include <set>

#include <penstock/sources/memory.hpp>
#include <penstock/stages/map.hpp>

#include "core/order/order_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

using Labels = std::vector<std::int64_t>;
using Indices = std::vector<std::uint64_t>;

ps::Memory labelled(const Labels& labels) {
  ps::Memory m;
  m.add<std::int64_t>("label", {}, labels);
  return m;
}
// Some classes are a hundred times as frequent as others; in no order.
Labels uneven(std::uint64_t n) {
  Labels labels;
  for (std::uint64_t i = 0; i < n; ++i) labels.push_back(mix(i) % 101 == 0 ? 9 : mix(i) % 10 == 0 ? -4 : 2);
  return labels;
}
std::map<std::int64_t, std::uint64_t> counts_of(const Labels& labels, const Indices& indices) {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const std::uint64_t i : indices) ++counts[labels[i]];
  return counts;
}
std::string cause_of(const std::function<void()>& f) {
  const auto error = error_of(f);
  REQUIRE(error);
  return std::string(error->stage()) + ": " + std::string(error->cause());
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Knows its labels, and counts what is read of it.
struct Knowing {
  Labels known;
  std::uint64_t more = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> reads = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::uint64_t size() const { return known.size(); }
  ps::Schema schema() const { return {{"label", ps::DType::i64, {}}, {"image", ps::DType::u8, {2}}}; }
  std::string name() const { return "knowing"; }
  std::string key(std::uint64_t i) const { return "k" + std::to_string(i); }
  std::optional<Labels> labels(std::string_view field) const {
    if (field != "label") return std::nullopt;
    Labels said = known;
    said.resize(said.size() + more);
    return said;
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    ++*reads;
    if (i >= size()) throw ps::Error(ps::Errc::not_found, "past the end");
    out.scalar<std::int64_t>(0, known[i]);
    out.emplace<std::uint8_t, 1>(1, {2})(0) = 1;
  }
};

}  // namespace

TEST_CASE("draws by a field go by the labels of the positions that are left") {
  const Labels labels = uneven(5000);
  const ps::Pipeline all = ps::from(labelled(labels));
  CHECK(order_of(all | ps::draw_balanced("label", {.count = 900, .seed = 4})) ==
        order_of(all | ps::draw_balanced({.labels = labels, .count = 900, .seed = 4})));
  for (const bool replacement : {false, true}) {
    const ps::Pipeline part = all | ps::split({.shares = {0.7, 0.3}, .part = 1}) | ps::take(1000);
    const Indices there = order_of(part),
                  drawn = order_of(part | ps::draw_balanced("label", {.count = 3000, .replacement = replacement}));
    const std::set<std::uint64_t> members(there.begin(), there.end());
    CHECK(std::ranges::all_of(drawn, [&](std::uint64_t i) { return members.contains(i); }));
    const auto counts = counts_of(labels, drawn);
    REQUIRE(counts.size() == 3);
    for (const auto& [label, count] : counts) {
      CAPTURE(label, count);
      CHECK(count > (replacement ? 900 : 999));
      CHECK(count < (replacement ? 1100 : 1001));
    }
  }
  // A class that is in none of the positions isn't drawn, nor may it be weighed.
  const ps::Pipeline two = ps::from(labelled({1, 2, 3, 3})) | ps::take(2);
  CHECK(counts_of({1, 2, 3, 3}, order_of(two | ps::draw_balanced("label", {.count = 10}))).size() == 2);
  CHECK(has(cause_of([&] { (void)(two | ps::draw_balanced("label", {.class_weights = {{3, 1.0}}})); }), "class 3"));
  CHECK(order_of(ps::from(labelled({5, 6})) | ps::repeat(3) | ps::draw_balanced(std::string("label"))).size() == 6);
}

TEST_CASE("draws by a field that can't be are refused") {
  const ps::Pipeline all = ps::from(labelled({1, 2}));
  CHECK(has(cause_of([&] { (void)(all | ps::draw_balanced("class")); }),
            "draw_balanced: there is no field \"class\" of one whole number; the fields are {label: i64[]}"));
  CHECK(has(cause_of([&] { (void)(all | ps::shuffle() | ps::draw_balanced("label")); }), "draw_balanced: "));
  CHECK(has(cause_of([&] { (void)ps::draw_balanced("label", {.labels = {1}}); }), ".labels"));
  const auto twice = [](ps::View<const std::int64_t, 0> in, ps::View<std::int64_t, 0> out) {
    *out.data() = 2 * *in.data();
  };
  CHECK(has(cause_of([&] { (void)(all | ps::map("label", twice, {.out = "doubled"}) | ps::draw_balanced("doubled")); }),
            "made by a stage"));
  CHECK(has(cause_of([&] { (void)(all | ps::take(0) | ps::draw_balanced("label")); }), "draw_balanced"));
  CHECK(has(cause_of([] {
              ps::from(labelled({1, 2})) | ps::take(0) | ps::draw_balanced("label");
            }),
            "no record is left"));
  // The name of a field of the source, which another one has now.
  ps::Memory two = labelled({1, 2});
  two.add<std::int64_t>("coarse", {}, Labels{0, 0});
  const auto renamed = ps::from(two) | ps::rename("label", "fine") | ps::rename("coarse", "label");
  CHECK(has(cause_of([&] { renamed | ps::draw_balanced("label"); }), "since rename(coarse) made it"));
  const auto mapped = ps::from(two) | ps::map("label", [](ps::View<std::int64_t, 0> label) { label() /= 2; });
  CHECK(has(cause_of([&] { mapped | ps::draw_balanced("label"); }), "made it; records are drawn"));
  CHECK(has(cause_of([&] {
              mapped | ps::split({.shares = {0.5, 0.5}, .part = 0, .stratify = "label"});
            }),
            "put this stage before that one"));
  CHECK((ps::from(two) | ps::draw_balanced("label") | ps::rename("label", "fine")).size() == 2);
}

TEST_CASE("a stratified split gives every class its share in each part") {
  for (const std::vector<double>& shares :
       std::vector<std::vector<double>>{{0.9, 0.1}, {0.8, 0.1, 0.1}, {1, 1, 1}, {0, 5, 3}, {1}})
    for (const std::uint64_t n : {1u, 2u, 10u, 1000u, 4999u}) {
      CAPTURE(shares.size(), n);
      const Labels labels = uneven(n);
      const ps::Pipeline all = ps::from(labelled(labels));
      const auto totals = counts_of(labels, numbers(n));
      double sum = 0;
      for (const double share : shares) sum += share;
      Indices together;
      for (std::uint64_t part = 0; part < shares.size(); ++part) {
        const ps::Pipeline p = all | ps::split({.shares = shares, .part = part, .stratify = "label"});
        const Indices members = order_of(p);
        CHECK(std::ranges::is_sorted(members));
        CHECK(order_of(p, 3) == members);
        auto counts = counts_of(labels, members);
        for (const auto& [label, total] : totals) {
          CAPTURE(label, total, part);
          CHECK(std::abs(static_cast<double>(counts[label]) - shares[part] / sum * static_cast<double>(total)) < 1);
        }
        together.insert(together.end(), members.begin(), members.end());
      }
      CHECK(sorted(together) == numbers(n));
    }
}

TEST_CASE("a stratified split of many small classes keeps its proportions, and changes with the salt alone") {
  Labels labels;
  for (std::int64_t i = 0; i < 10'000; ++i) labels.push_back(i / 2);  // two of each
  const ps::Pipeline all = ps::from(labelled(labels));
  const auto part = [&](std::uint64_t salt, std::uint64_t seed) {
    return order_of(all | ps::seed(seed) |
                    ps::split({.shares = {0.9, 0.1}, .part = 1, .salt = salt, .stratify = "label"}));
  };
  CHECK(std::abs(static_cast<double>(part(0, 0).size()) - 1000) < 20);
  CHECK(part(0, 0) == part(0, 5));
  CHECK(part(0, 0) != part(1, 0));
  // Members are drawn, not the first or last ones of a class.
  const Indices tenth =
      order_of(ps::from(labelled(Labels(1000, 3))) | ps::split({.shares = {0.9, 0.1}, .part = 1, .stratify = "label"}));
  CHECK(tenth.size() == 100);
  CHECK(tenth.front() < 100);
  CHECK(tenth.back() >= 900);
  // After other orders; and draws after it.
  const ps::Pipeline after = all | ps::skip(5000) | ps::split({.shares = {1, 1}, .part = 0, .stratify = "label"});
  CHECK(after.size() == 2500);
  CHECK(order_of(after).front() >= 5000);
  CHECK((after | ps::draw_balanced("label", {.count = 7})).size() == 7);
  std::set<std::uint64_t> fingerprints{all.fingerprint()};
  for (const std::uint64_t salt : {0u, 1u})
    for (const bool stratify : {false, true})
      fingerprints.insert((all | ps::split({.salt = salt, .stratify = stratify ? "label" : ""})).fingerprint());
  CHECK(fingerprints.size() == 5);
  CHECK(has(cause_of([] { (void)ps::split({.by = ps::SplitOptions::By::key, .stratify = "label"}); }), "split: "));
  CHECK(has(cause_of([&] { (void)(all | ps::split({.stratify = "y"})); }), "split: there is no field \"y\""));
  CHECK(has(cause_of([&] { (void)(all | ps::shuffle() | ps::split({.stratify = "label"})); }), "split: "));
}

TEST_CASE("labels are taken from a source that knows them, also inside of joins, and of no more than their field") {
  const Knowing knowing{.known = {4, 5, 6}};
  CHECK(ps::labels_of(knowing, "label") == Labels{4, 5, 6});
  CHECK(*knowing.reads == 0);
  ps::Memory other;
  other.add<std::int64_t>("label", {}, {7, 8}).add<std::uint8_t>("image", {2}, {1, 2, 3, 4});
  CHECK(ps::labels_of(ps::concat(knowing, other), "label") == Labels{4, 5, 6, 7, 8});
  CHECK(ps::labels_of(ps::interleave(other, knowing), "label") == Labels{7, 4, 8, 5, 6});
  const Records images{.count = 3};
  const ps::AnySource beside = ps::zip({{images}, {knowing, "k_"}}, {.by = ps::PairBy::position});
  CHECK(ps::labels_of(beside, "k_label") == Labels{4, 5, 6});
  CHECK(images.shared->reads == 0);
  CHECK(ps::labels_of(beside, "y") == Labels{0, 1, 2});
  CHECK(*knowing.reads == 0);
  CHECK(order_of(ps::from(beside) | ps::draw_balanced("k_label")).size() == 3);
  CHECK(*knowing.reads == 0);
  Knowing wrong = knowing;
  wrong.more = 1;
  CHECK(
      has(cause_of([&] { (void)ps::labels_of(wrong, "label"); }), "labels_of: the source says 4 labels for 3 records"));
}

TEST_CASE("labels of records that an earlier order leaves out are not read") {
  Records records{.count = 40};
  records.shared->faults[30] = Fault::corrupt;
  const ps::Pipeline all = ps::from(records);
  CHECK(error_of([&] { (void)(all | ps::draw_balanced("y")); })->code() == ps::Errc::corrupt);
  CHECK((all | ps::take(30) | ps::draw_balanced("y")).size() == 30);
  std::vector<std::uint64_t> good;
  for (std::uint64_t i = 0; i < 40; ++i)
    if (i != 30) good.push_back(i);
  const ps::Pipeline chosen = all | ps::select(good);
  const ps::SplitOptions halves{.shares = {1, 1}, .part = 0, .stratify = "y"};
  CHECK((chosen | ps::split(halves)).size() > 0);
  CHECK((ps::from(ps::share(chosen)) | ps::draw_balanced("y")).size() == 39);
}

}  // namespace PENSTOCK_TEST_FILE
