// SPDX-License-Identifier: Apache-2.0
// Bags of groups whose classes come equally often.
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include <penstock/stages/map.hpp>

#include "core/order/order_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

constexpr auto by_group = ps::SplitOptions::By::group;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
ps::Error refusal_of(const std::function<void()>& f) {
  const auto error = error_of(f);
  REQUIRE(error);
  CHECK(error->stage() == "bags");
  return *error;
}

// Records of groups that the source knows, each with a class.
struct Slides : Records {
  std::vector<ps::Group> runs;
  std::vector<std::int64_t> labels_of_records;
  ps::Schema schema() const {
    return {{"x", ps::DType::u32, {width}}, {"label", ps::DType::i64, {}, {}, ps::ClassNames({"normal", "tumor"})}};
  }
  std::vector<ps::Group> groups() const { return runs; }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const {
    if (field != "label") return std::nullopt;
    return labels_of_records;
  }
  std::string group_of(std::uint64_t record) const {
    return std::ranges::upper_bound(runs, record, {}, &ps::Group::end)->name;
  }
  void add(const std::string& name, std::uint64_t records, std::int64_t label) {
    runs.push_back({name, count += records});
    labels_of_records.resize(count, label);
  }
};

// Groups in several runs, of very different sizes; classes of very different numbers of groups.
Slides random_slides(std::uint64_t t) {
  Slides source;
  const std::uint64_t groups = 1 + mix(t) % 40, runs = groups + mix(t + 1) % 40, longest = t % 4 == 0 ? 300 : 20;
  const std::int64_t classes = 1 + static_cast<std::int64_t>(mix(t + 2) % 5);
  for (std::uint64_t r = 0; r < runs; ++r) {
    const std::uint64_t group = r < groups ? r : mix(t * 77 + r) % groups, draw = mix(t * 31 + group);
    const std::int64_t label = draw % 3 != 0 ? 0 : static_cast<std::int64_t>(draw / 3) % classes;
    source.add("g" + std::to_string(group), mix(t * 1000 + r) % longest, 7 * std::abs(label) - 7);
  }
  return source;
}

// What is left of groups, and what of that bags take.
struct Model {
  std::map<std::string, std::vector<std::uint64_t>> members;
  std::map<std::string, std::int64_t> label;
  std::map<std::int64_t, std::vector<std::string>> classes;
  std::uint64_t rounds = 0;
  bool lost_class = false;

  Model(const Slides& source, const ps::Pipeline& before, std::uint64_t min_size) {
    for (const std::uint64_t record : order_of(before)) {
      members[source.group_of(record)].push_back(record);
      label[source.group_of(record)] = source.labels_of_records[record];
    }
    std::set<std::int64_t> all;
    for (const auto& [name, records] : members) {
      all.insert(label[name]);
      if (records.size() >= min_size) classes[label[name]].push_back(name);
    }
    lost_class = classes.size() < all.size();
    for (const auto& [value, names] : classes) rounds = std::max<std::uint64_t>(rounds, names.size());
  }
};

struct Bag {
  std::string group;
  std::vector<std::uint64_t> records;
};

// An epoch's records, cut by what is known of bags: they are of one group, and as large as it lets them be.
std::vector<Bag> bags_of(const Slides& source, const Model& model, std::uint64_t size,
                         const std::vector<std::uint64_t>& order) {
  std::vector<Bag> bags;
  for (std::size_t i = 0; i < order.size();) {
    Bag bag{source.group_of(order[i]), {}};
    const std::size_t end = i + std::min<std::size_t>(size, model.members.at(bag.group).size());
    REQUIRE(end <= order.size());
    for (; i < end; ++i) {
      REQUIRE(source.group_of(order[i]) == bag.group);
      bag.records.push_back(order[i]);
    }
    bags.push_back(std::move(bag));
  }
  return bags;
}

ps::Pipeline cut(const ps::Pipeline& all, std::uint64_t t) {
  ps::Pipeline before = all;
  if (t % 2 == 1) before = before | ps::skip(mix(t) % 10);
  if (t % 7 == 5) before = before | ps::repeat(2);
  return before;
}

}  // namespace

TEST_CASE("balanced bags: classes come in rounds, groups of a class equally often, and again with other records") {
  int checked = 0, small_classes = 0;
  for (std::uint64_t t = 0; t < 150; ++t) {
    const Slides source = random_slides(t);
    const std::uint64_t size = 1 + mix(t + 3) % 40, min_size = t % 3 == 0 ? 1 + mix(t) % 12 : 1;
    const ps::Pipeline before = cut(ps::from(source), t);
    const Model model(source, before, min_size);
    const ps::BagOptions options{.seed = t, .min_size = min_size, .balance = "label"};
    CAPTURE(t, size, min_size, source.count);
    if (before.size() == 0) continue;
    if (model.rounds == 0 || model.lost_class) {
      CHECK(has(refusal_of([&] { (void)(before | ps::bags(size, options)); }).cause(), "lower `min_size`"));
      continue;
    }
    const ps::Pipeline p = before | ps::bags(size, options);
    CHECK(same_in_any_access(p, 2, 10));
    std::map<std::string, std::uint64_t> came_in_all;
    std::set<std::vector<std::uint64_t>> seen;
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      const auto order = order_of(p, epoch);
      seen.insert(order);
      const std::vector<Bag> bags = bags_of(source, model, size, order);
      REQUIRE(bags.size() == model.rounds * model.classes.size());
      std::map<std::string, std::vector<std::uint64_t>> drawn;  // one bag after the other
      std::map<std::string, std::uint64_t> came;
      for (std::size_t b = 0; b < bags.size(); ++b) {
        const Bag& bag = bags[b];
        if (b != 0) REQUIRE(bags[b - 1].group != bag.group);
        ++came[bag.group];
        ++came_in_all[bag.group];
        auto& of_group = drawn[bag.group];
        of_group.insert(of_group.end(), bag.records.begin(), bag.records.end());
        // Each position at most once in a bag; a record as often as there are positions of it.
        std::multiset<std::uint64_t> left(model.members.at(bag.group).begin(), model.members.at(bag.group).end());
        for (const std::uint64_t record : bag.records) {
          const auto found = left.find(record);
          REQUIRE(found != left.end());
          left.erase(found);
        }
        if (b % model.classes.size() != 0) continue;
        std::set<std::int64_t> round;
        for (std::size_t i = b; i < b + model.classes.size(); ++i) round.insert(model.label.at(bags[i].group));
        REQUIRE(round.size() == model.classes.size());
      }
      for (const auto& [value, names] : model.classes) {
        small_classes += names.size() < model.rounds ? 1 : 0;
        for (const std::string& name : names) {
          REQUIRE(came[name] >= model.rounds / names.size());
          REQUIRE(came[name] <= (model.rounds + names.size() - 1) / names.size());
        }
      }
      // A group gives all its records before it gives one again, as far as whole bags go.
      for (const auto& [name, records] : drawn) {
        const std::size_t whole = model.members.at(name).size(), each = std::min<std::size_t>(size, whole);
        const std::size_t first = std::min(records.size(), whole / each * each);
        std::multiset<std::uint64_t> left(model.members.at(name).begin(), model.members.at(name).end());
        for (std::size_t i = 0; i < first; ++i) {
          REQUIRE(left.contains(records[i]));
          left.erase(left.find(records[i]));
        }
      }
    }
    // Over all epochs too, groups whose bags are alike.
    for (const auto& [value, names] : model.classes) {
      std::map<std::uint64_t, std::set<std::uint64_t>> by_size;
      for (const std::string& name : names)
        by_size[std::min<std::uint64_t>(size, model.members.at(name).size())].insert(came_in_all[name]);
      for (const auto& [bag_size, counts] : by_size) REQUIRE(*counts.rbegin() - *counts.begin() <= 1);
    }
    if (p.size() > 60) CHECK(seen.size() == 5);
    ++checked;
  }
  CHECK(checked > 60);
  CHECK(small_classes > 60);
}

TEST_CASE("groups of one class and size take turns at one bag more, and together have as many in each epoch") {
  Slides source;
  for (std::uint64_t g = 0; g < 11; ++g) source.add("most-" + std::to_string(g), 9, 0);
  for (std::uint64_t g = 0; g < 4; ++g) source.add("large-" + std::to_string(g), 9, 1);
  for (std::uint64_t g = 0; g < 3; ++g) source.add("small-" + std::to_string(g), 2, 1);
  const ps::Pipeline p = ps::from(source) | ps::bags(4, {.seed = 3, .balance = "label"});
  const Model model(source, ps::from(source), 1);
  const std::uint64_t epochs = 12;
  std::map<std::string, std::map<std::string, std::uint64_t>> came;  // of each set: its groups
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    CAPTURE(epoch);
    std::map<std::string, std::uint64_t> in_epoch;
    for (const Bag& bag : bags_of(source, model, 4, order_of(p, epoch))) {
      const std::string set = bag.group.substr(0, bag.group.find('-'));
      ++in_epoch[set];
      ++came[set][bag.group];
    }
    CHECK(in_epoch == std::map<std::string, std::uint64_t>{{"most", 11}, {"large", 6}, {"small", 5}});
    for (const auto& [set, groups] : came) {
      const auto [least, most] = std::ranges::minmax(groups | std::views::values);
      CHECK(most - least <= 1);
    }
  }
  for (const auto& [group, bags] : came["large"]) CHECK(bags == 6 * epochs / 4);
  for (const auto& [group, bags] : came["small"]) CHECK(bags == 5 * epochs / 3);
}

TEST_CASE("balanced bags of one class are bags of each group once") {
  Slides source;
  for (std::uint64_t g = 0; g < 30; ++g) source.add("g" + std::to_string(g), 1 + mix(g) % 50, 3);
  const ps::Pipeline p = ps::from(source) | ps::bags(10, {.balance = "label"});
  CHECK(p.size() == (ps::from(source) | ps::bags(10)).size());
  std::set<std::string> groups;
  for (const std::uint64_t record : order_of(p)) groups.insert(source.group_of(record));
  CHECK(groups.size() == 30);
  CHECK((ps::from(source) | ps::take(0) | ps::bags(10, {.balance = "label"})).size() == 0);
}

TEST_CASE("each record of a group that comes again is drawn as often as others") {
  Slides source;
  for (std::uint64_t g = 0; g < 5; ++g) source.add("normal-" + std::to_string(g), 4, 0);
  source.add("tumor", 100, 1);
  const ps::Pipeline p = ps::from(source) | ps::bags(30, {.balance = "label"});
  std::vector<std::uint64_t> drawn(100), first_of_bag(100);
  for (std::uint64_t epoch = 0; epoch < 600; ++epoch)
    for (const std::uint64_t record : order_of(p, epoch))
      if (record >= 20) ++drawn[record - 20];
  CHECK(fits(drawn, std::vector<double>(100, 0.01)));
}

TEST_CASE("balanced bags at any number of threads, after a resume and on ranks are the same") {
  const Watchdog dog(60s);
  for (std::uint64_t t = 0; t < 12; ++t) {
    Slides source;
    for (std::uint64_t g = 0; g < 5 + t; ++g) source.add("n" + std::to_string(g), 6 + mix(t * 100 + g) % 20, 0);
    for (std::uint64_t g = 0; g < 2 + t % 4; ++g) source.add("t" + std::to_string(g), 6 + mix(t * 200 + g) % 20, 1);
    const std::uint64_t size = 6, world = 1 + t % 3;
    const ps::Pipeline bags = ps::from(source) | ps::bags(size, {.seed = t, .min_size = size, .balance = "label"});
    // Two bags for each rank: a step has as many of each class.
    const ps::Pipeline p = bags | ps::batch(size * 2 * world, {.tail = ps::Tail::drop});
    const std::vector<Got> one = collect(p, {.threads = 1}, 3);
    CAPTURE(t, world);
    REQUIRE(one.size() >= 3);
    CHECK(collect(p, {.threads = 3}, 3) == one);
    for (const Got& batch : one) {
      std::int64_t tumor = 0;
      for (const std::uint64_t i : batch.indices) tumor += source.labels_of_records[i];
      REQUIRE(tumor == static_cast<std::int64_t>(size * world));
    }
    // A state in the middle goes on with the same batches, on ranks.
    ps::Loader loader(p, {.threads = 2});
    std::size_t next = 0;
    while (next < one.size() / 2)
      if (const auto b = loader.next()) REQUIRE(copy(*b) == one[next++]);
    std::vector<ps::Loader> ranks;
    for (std::uint64_t rank = 0; rank < world; ++rank) {
      ranks.emplace_back(p | ps::for_rank({.rank = static_cast<int>(rank), .world = static_cast<int>(world)}),
                         ps::LoaderOptions{.threads = 1 + static_cast<unsigned>(rank)});
      ranks.back().resume(loader.state());
    }
    while (next < one.size()) {
      std::vector<std::uint64_t> together;
      for (ps::Loader& rank : ranks) {
        auto batch = rank.next();
        if (!batch) batch = rank.next();  // the next epoch's
        REQUIRE(batch);
        const Got part = copy(*batch);
        REQUIRE(part.indices.size() == 2 * size);
        // Whole bags: each rank has one of each class.
        for (std::size_t i = 0; i < part.indices.size(); ++i)
          REQUIRE(source.group_of(part.indices[i]) == source.group_of(part.indices[i / size * size]));
        REQUIRE(source.labels_of_records[part.indices.front()] != source.labels_of_records[part.indices.back()]);
        together.insert(together.end(), part.indices.begin(), part.indices.end());
      }
      REQUIRE(together == one[next++].indices);
    }
  }
}

TEST_CASE("balanced bags come one by one in batches of a group") {
  Slides source;
  source.add("only", 3, 1);  // its bags are smaller than a batch, and would fit into one together
  for (std::uint64_t g = 0; g < 6; ++g) source.add("n" + std::to_string(g), 9, 0);
  const ps::Pipeline p =
      ps::from(source) | ps::bags(8, {.balance = "label"}) | ps::batch(8, {.by = ps::BatchOptions::By::group});
  std::map<std::string, int> bags;
  for (const Got& batch : collect(p, {.threads = 2}, 4)) {
    const std::string group = source.group_of(batch.indices.front());
    ++bags[group];
    CHECK(batch.indices.size() == (group == "only" ? 3 : 8));
  }
  CHECK(bags["only"] == 4 * 6);
}

TEST_CASE("balanced bags say what they are, and a state says by what they were balanced") {
  Slides source;
  for (std::uint64_t g = 0; g < 12; ++g) source.add("g" + std::to_string(g), 10, g < 9 ? 0 : 1);
  const ps::Pipeline p = ps::from(source) | ps::bags(4, {.balance = "label"});
  CHECK(has(p.plan(), "by label: 2 classes (of 9, 3 groups), 18 bags an epoch"));
  CHECK(order_of(p) != order_of(p, 1));
  CHECK(order_of(ps::from(source) | ps::bags(4, {.seed = 5, .balance = "label"})) != order_of(p));
  Slides other = source;
  std::ranges::fill(other.labels_of_records.begin(), other.labels_of_records.begin() + 10, 1);
  std::ranges::fill(other.labels_of_records.begin() + 90, other.labels_of_records.begin() + 100, 0);
  const auto loader = [](const Slides& of) {
    return ps::Loader(ps::from(of) | ps::bags(4, {.balance = "label"}) | ps::batch(4), {.threads = 1});
  };
  ps::Loader one = loader(source), swapped = loader(other), same = loader(source);
  (void)one.next();
  same.resume(one.state());
  CHECK(error_of([&] { swapped.resume(one.state()); })->code() == ps::Errc::state_mismatch);
}

TEST_CASE("bags that can't be balanced are refused") {
  Slides source;
  source.add("a", 5, 0);
  source.add("b", 5, 1);
  source.add("c", 2, 2);
  const ps::Pipeline all = ps::from(source);
  const ps::Error small = refusal_of([&] { (void)(all | ps::bags(4, {.min_size = 3, .balance = "label"})); });
  CHECK(small.code() == ps::Errc::invalid_argument);
  CHECK(has(small.cause(), "no group of label 2 has 3 records, \""));
  Slides mixed = source;
  mixed.labels_of_records[7] = 0;
  const ps::Error two = refusal_of([&] { (void)(ps::from(mixed) | ps::bags(4, {.balance = "label"})); });
  CHECK(two.code() == ps::Errc::invalid_argument);
  CHECK(
      has(two.cause(),
          "group \"b\" has records of several classes: record 5 is of label 1 (tumor), record 7 of label 0 (normal)"));
  CHECK(two.index() == 7);
  CHECK(two.key() == "key-7");
  CHECK(two.source() == "records");
  // What was left out before does not count.
  CHECK((ps::from(mixed) | ps::take(7) | ps::bags(4, {.balance = "label"})).size() == 4 + 2);
  CHECK(has(refusal_of([&] { (void)(ps::from(mixed) | ps::skip(1) | ps::bags(4, {.balance = "label"})); }).cause(),
            "record 5 is of label 1"));
  CHECK(refusal_of([&] { (void)(all | ps::bags(4, {.balance = "grade"})); }).code() == ps::Errc::schema_mismatch);
  CHECK(refusal_of([&] { (void)(all | ps::bags(4, {.balance = "x"})); }).code() == ps::Errc::schema_mismatch);
  CHECK(has(refusal_of([&] { (void)(all | ps::shuffle() | ps::bags(4, {.balance = "label"})); }).cause(), "shuffle"));
  const ps::Stage other =
      ps::map("label", [](ps::View<const std::int64_t, 0> in, ps::View<std::int64_t, 0> out) { out() = in() + 1; });
  CHECK(has(refusal_of([&] { (void)(all | other | ps::bags(4, {.balance = "label"})); }).cause(), "not the source's"));
  // Each group a class of its own, but for one class of half of them.
  Slides many;
  for (std::uint64_t g = 0; g < 40'000; ++g)
    many.add(std::to_string(g), 1, g % 2 == 0 ? 0 : static_cast<std::int64_t>(g));
  CHECK(has(refusal_of([&] { (void)(ps::from(many) | ps::bags(4, {.balance = "label"})); }).cause(), "fewer classes"));
}

}  // namespace PENSTOCK_TEST_FILE
