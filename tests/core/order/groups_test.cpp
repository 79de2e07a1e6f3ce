// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <set>

#include <penstock/join.hpp>
#include <penstock/windows.hpp>

#include "core/order/order_help.hpp"
#include "order/groups.hpp"
#include "order/sample_order.hpp"
#include "pipeline/pipeline_data.hpp"

using namespace help;

namespace {

constexpr auto by_group = ps::SplitOptions::By::group;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string cause_of(const std::function<void()>& f) {
  const auto error = error_of(f);
  return error ? error->cause() : "";
}

// Records whose groups the source knows.
struct Grouped : Records {
  std::vector<ps::Group> runs;
  std::vector<ps::Group> groups() const { return runs; }
};

// Records whose keys tell their groups.
struct InFolders : Records {
  std::vector<std::string> keys;
  std::string key(std::uint64_t i) const { return keys.at(i); }
};

// Runs of random lengths, some of them empty, of fewer groups than runs.
Grouped random_groups(std::uint64_t t) {
  Grouped source;
  const std::uint64_t names = 1 + mix(t) % 30, runs = 1 + mix(t + 1) % 60, longest = t % 4 == 0 ? 900 : 20;
  for (std::uint64_t r = 0; r < runs; ++r) {
    source.count += mix(t * 1000 + r) % longest;
    source.runs.push_back({"g" + std::to_string(mix(t * 77 + r) % names), source.count});
  }
  return source;
}
InFolders in_folders(const Grouped& source) {
  InFolders out;
  out.count = source.count;
  std::uint64_t i = 0;
  for (const ps::Group& run : source.runs)
    for (; i < run.end; ++i) out.keys.push_back("all/" + run.name + "/" + std::to_string(i));
  return out;
}
std::vector<std::string> names_of(const std::vector<ps::Group>& runs) {
  std::vector<std::string> names;
  for (const ps::Group& run : runs) names.resize(run.end, run.name);
  return names;
}
std::vector<std::string> whose(const ps::AnySource& source) {
  return names_of(ps::detail::groups_of(*source.model(), "test"));
}

// What stays of a pipeline that can't be made for want of groups.
std::optional<ps::Pipeline> part_of(const ps::Pipeline& all, ps::SplitOptions options) {
  options.by = by_group;
  try {
    return all | ps::split(options);
  } catch (const ps::Error& error) {
    REQUIRE(has(error.cause(), "none fell into part"));
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a split by group keeps each group whole, and every record once") {
  for (std::uint64_t t = 0; t < 120; ++t) {
    const Grouped source = random_groups(t);
    const std::vector<std::string> names = names_of(source.runs);
    const std::vector<double> shares = t % 3 == 0   ? std::vector<double>{0.9, 0.1}
                                       : t % 3 == 1 ? std::vector<double>{1, 2, 3}
                                                    : std::vector<double>{1, 0, 1};
    CAPTURE(t, source.count, source.runs.size());
    std::vector<std::uint64_t> all;
    std::map<std::string, std::uint64_t> part_of_group;
    for (std::uint64_t part = 0; part < shares.size(); ++part) {
      const auto known = part_of(ps::from(source), {.shares = shares, .part = part, .salt = t});
      const auto told = part_of(ps::from(in_folders(source)), {.shares = shares, .part = part, .salt = t});
      if (told) CHECK(std::ranges::is_sorted(order_of(*told)));
      if (!known) continue;
      const auto members = order_of(*known);
      CHECK(members == order_of(*known, 3));
      CHECK(std::ranges::is_sorted(members));
      CHECK(same_in_any_access(*known | ps::repeat(2), 2, members.empty() ? 0 : 20));
      if (shares[part] == 0) CHECK(members.empty());
      for (const std::uint64_t i : members) CHECK(part_of_group.emplace(names[i], part).first->second == part);
      all.insert(all.end(), members.begin(), members.end());
    }
    CHECK(sorted(all) == numbers(source.count));
  }
}

TEST_CASE("keys tell the same groups as a source that knows them") {
  Grouped source = random_groups(5);
  for (ps::Group& run : source.runs) run.name = "all/" + run.name;
  const InFolders folders = in_folders(random_groups(5));
  CHECK(whose(source) == whose(folders));
  for (std::uint64_t part = 0; part < 2; ++part) {
    const ps::SplitOptions half{.shares = {1, 1}, .part = part, .by = by_group};
    CHECK(order_of(ps::from(source) | ps::split(half)) == order_of(ps::from(folders) | ps::split(half)));
  }
}

TEST_CASE("keys are asked for once, whatever is made of the groups that they tell") {
  struct Counting : InFolders {
    std::shared_ptr<std::atomic<std::uint64_t>> asked = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::string key(std::uint64_t i) const {
      ++*asked;
      return keys.at(i);
    }
  };
  Counting source;
  static_cast<InFolders&>(source) = in_folders(random_groups(8));
  const ps::Pipeline all = ps::from(source);
  for (std::uint64_t part = 0; part < 2; ++part) {
    const ps::Pipeline one = all | ps::split({.shares = {1, 1}, .part = part, .by = by_group});
    const ps::Pipeline bags = one | ps::bags(4);
    CHECK((bags | ps::batch(4, {.by = ps::BatchOptions::By::group})).plan() != "");
  }
  CHECK(source.asked->load() == source.count);
}

TEST_CASE("a group stays in its part when others come, and another salt makes another split") {
  const auto part = [](std::uint64_t groups, std::uint64_t salt) {
    Grouped source;
    for (std::uint64_t g = 0; g < groups; ++g) source.runs.push_back({"slide-" + std::to_string(g), source.count += 3});
    return order_of(ps::from(source) | ps::split({.shares = {0.7, 0.3}, .part = 1, .by = by_group, .salt = salt}));
  };
  const auto small = part(1000, 0), large = part(3000, 0);
  CHECK(small.size() > 3 * 230);
  CHECK(small.size() < 3 * 370);
  CHECK(std::vector<std::uint64_t>(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(small.size())) == small);
  CHECK(part(1000, 1) != small);
}

TEST_CASE("a split by group takes memory for runs, not for records") {
  Grouped source;
  for (std::uint64_t g = 0; g < 1000; ++g)
    source.runs.push_back({"slide-" + std::to_string(g), source.count += std::uint64_t{1} << 40});
  const ps::Pipeline part = ps::from(source) | ps::split({.shares = {0.5, 0.5}, .by = by_group}) | ps::skip(7) |
                            ps::take(~std::uint64_t{0} / 2);
  CHECK(part.size() % (std::uint64_t{1} << 40) == (std::uint64_t{1} << 40) - 7);
  CHECK(has(part.plan(), "of 1000 groups"));
  const ps::Pipeline rest = ps::from(source) | ps::split({.shares = {0.5, 0.5}, .all_but = 0, .by = by_group});
  CHECK(rest.size() + (part.size() + 7) == source.count);
  const ps::Pipeline blocks = part | ps::shuffle({.blocks = true, .block_size = std::uint64_t{1} << 36});
  std::vector<std::uint64_t> some(5000);
  for (const ps::Pipeline& p : {part, blocks}) {
    p.fill(1, p.size() / 2, some);
    CHECK(std::set<std::uint64_t>(some.begin(), some.end()).size() == some.size());
  }
}

TEST_CASE("runs of positions are what orders say they are") {
  for (std::uint64_t t = 0; t < 200; ++t) {
    const Grouped source = random_groups(t);
    ps::Pipeline p = ps::from(source);
    for (std::uint64_t k = 0; k < 1 + mix(t) % 4; ++k) {
      const std::uint64_t r = mix(t * 10 + k);
      if (r % 5 == 0 && k == 0) {
        if (auto part = part_of(p, {.shares = {1, 1}, .salt = t})) p = *part;
      } else if (r % 5 == 1) {
        p = p | ps::take(r / 8 % (source.count + 2));
      } else if (r % 5 == 2) {
        p = p | ps::skip(r / 8 % 40);
      } else if (r % 5 == 3) {
        p = p | ps::repeat(1 + r / 8 % 3);
      } else {
        p = p | ps::shuffle();
      }
    }
    const auto order = order_of(p);
    const ps::detail::SampleOrder positions = p.data().sample_order();
    CAPTURE(t, order.size());
    for (std::uint64_t i = 0; i < order.size(); i += 1 + mix(i) % 5) {
      const std::uint64_t run = positions.run_length(i);
      REQUIRE(run >= 1);
      REQUIRE(run <= order.size() - i);
      std::uint64_t follow = 1;
      while (follow < run && order[i + follow] == order[i] + follow) ++follow;
      REQUIRE(follow == run);
    }
  }
}

TEST_CASE("what can't be split by group is refused with what is missing") {
  const auto refusal = [](const auto& source) {
    const auto error = error_of([&] { (void)(ps::from(source) | ps::split({.by = by_group})); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->stage() == "split");
    CHECK(error->source() == "records");
    return *error;
  };
  InFolders folders;
  folders.count = 3;
  folders.keys = {"a/0", "a/1", "b"};
  const ps::Error no_slash = refusal(folders);
  CHECK(no_slash.key() == "b");
  CHECK(no_slash.index() == 2);
  Grouped wrong;
  wrong.count = 4;
  wrong.runs = {{"a", 3}, {"b", 2}, {"c", 4}};
  CHECK(has(refusal(wrong).cause(), "ascend to its size, 4"));
  wrong.runs = {{"a", 3}};
  CHECK(has(refusal(wrong).cause(), "ascend to its size, 4"));
  // One group is in one part, so the other one has none.
  Grouped one;
  one.count = 4;
  one.runs = {{"a", 4}};
  int empty = 0;
  for (std::uint64_t part = 0; part < 2; ++part)
    if (const auto error = error_of([&] {
          (void)(ps::from(one) | ps::split({.shares = {1, 1}, .part = part, .by = by_group}));
        })) {
      CHECK(has(error->cause(), "of 1 groups none fell into part " + std::to_string(part)));
      ++empty;
    }
  CHECK(empty == 1);
  one.count = 0;
  one.runs = {};
  CHECK((ps::from(one) | ps::split({.by = by_group})).size() == 0);
  CHECK(has(cause_of([&] { (void)(ps::from(folders) | ps::take(2) | ps::split({.by = by_group})); }),
            "directly after the source"));
}

TEST_CASE("joins know whose their records are") {
  Grouped a, b;
  a.count = 5;
  a.runs = {{"p", 2}, {"q", 5}};
  b.count = 3;
  b.runs = {{"q", 1}, {"r", 3}};
  InFolders c;
  c.count = 2;
  c.keys = {"p/8", "s/9"};
  using Names = std::vector<std::string>;
  CHECK(whose(ps::concat(a, b)) == Names{"p", "p", "q", "q", "q", "q", "r", "r"});
  CHECK(ps::concat(a, b).model()->groups().size() == 3);  // neighbours of one group are one run
  CHECK(whose(ps::concat(a, c)) == Names{"p", "p", "q", "q", "q", "p", "s"});
  CHECK(whose(ps::concat(c, c)) == Names{"p", "s", "p", "s"});
  CHECK(ps::concat(c, c).model()->groups().empty());  // the keys tell it
  CHECK(whose(ps::interleave(a, b)) == Names{"p", "q", "p", "r", "q", "r", "q", "q"});
  CHECK(whose(ps::interleave(a, b, {.block = 2})) == Names{"p", "p", "q", "r", "q", "q", "r", "q"});
  CHECK(whose(ps::windows(a, {.length = 2, .stride = 2})) == Names{"p", "q"});
  CHECK(whose(ps::windows(a, {.length = 2, .stride = 1})) == Names{"p", "p", "q", "q"});
  Grouped keyed = a;
  CHECK(whose(ps::zip({{Records{.count = 5}, "x_"}, keyed}, {.by = ps::PairBy::position})) ==
        Names{"p", "p", "q", "q", "q"});
  Grouped few = a;  // records 0 to 4 again, of which the other has fewer
  CHECK(whose(ps::pair({{few}, {Records{.count = 3}, "y_"}}, {.unpaired = ps::Unpaired::leave_out})) ==
        Names{"p", "p", "q"});
  CHECK(error_of([&] { (void)whose(ps::concat(a, Records{.count = 2})); })->key() == "key-0");
}

TEST_CASE("bags hold each group once an epoch, and of it so many records, drawn anew") {
  for (std::uint64_t t = 0; t < 100; ++t) {
    const Grouped source = random_groups(t);
    const std::vector<std::string> names = names_of(source.runs);
    const std::uint64_t size = 1 + mix(t + 3) % 40, min_size = t % 3 == 0 ? 1 + mix(t) % 20 : 1;
    ps::Pipeline before = ps::from(source);
    if (t % 2 == 1) before = before | ps::skip(mix(t) % 10);
    if (t % 5 == 4) before = before | ps::repeat(2);
    std::map<std::string, std::vector<std::uint64_t>> members;
    for (const std::uint64_t record : order_of(before)) members[names[record]].push_back(record);
    std::uint64_t expected = 0;
    for (const auto& [name, records] : members)
      expected += records.size() < min_size ? 0 : std::min<std::uint64_t>(size, records.size());
    CAPTURE(t, size, min_size, source.count);
    if (expected == 0) {
      if (before.size() != 0)
        CHECK(has(cause_of([&] { (void)(before | ps::bags(size, {.min_size = min_size})); }), "none has"));
      continue;
    }
    const ps::Pipeline p = before | ps::bags(size, {.seed = t, .min_size = min_size});
    REQUIRE(p.size() == expected);
    CHECK(same_in_any_access(p, 2, 10));
    std::set<std::vector<std::uint64_t>> seen;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const auto order = order_of(p, epoch);
      seen.insert(order);
      std::set<std::string> done;
      for (std::size_t i = 0; i < order.size();) {
        const std::string& name = names[order[i]];
        REQUIRE(done.insert(name).second);
        const std::size_t each = std::min<std::size_t>(size, members[name].size());
        std::vector<std::uint64_t> bag(order.begin() + static_cast<std::ptrdiff_t>(i),
                                       order.begin() + static_cast<std::ptrdiff_t>(i + each));
        // Each position at most once; a record as often as there are positions of it.
        std::multiset<std::uint64_t> left(members[name].begin(), members[name].end());
        for (const std::uint64_t record : bag) {
          const auto found = left.find(record);
          REQUIRE(found != left.end());
          left.erase(found);
        }
        i += each;
      }
      for (const auto& [name, records] : members) CHECK(done.contains(name) == (records.size() >= min_size));
    }
    if (expected > 60) CHECK(seen.size() == 3);
  }
}

TEST_CASE("what a bag draws does not depend on the other groups, and each record is drawn as often as others") {
  Grouped few, more;
  few.runs = {{"a", few.count = 100}, {"b", 150}};
  few.count = 150;
  more.runs = {{"z", 30}, {"a", 130}};
  more.count = 130;
  const auto of_a = [](const Grouped& source, std::uint64_t from, std::uint64_t epoch) {
    std::vector<std::uint64_t> out;
    for (const std::uint64_t record : order_of(ps::from(source) | ps::bags(10), epoch))
      if (record >= from && record < from + 100) out.push_back(record - from);
    return out;
  };
  CHECK(of_a(few, 0, 4) == of_a(more, 30, 4));
  CHECK(of_a(few, 0, 4) != of_a(few, 0, 5));
  std::vector<std::uint64_t> drawn(100);
  for (std::uint64_t epoch = 0; epoch < 2000; ++epoch)
    for (const std::uint64_t record : of_a(few, 0, epoch)) ++drawn[record];
  CHECK(fits(drawn, std::vector<double>(100, 0.01)));
}

TEST_CASE("batches end where the group changes") {
  const Watchdog dog(60s);
  for (std::uint64_t t = 0; t < 30; ++t) {
    Grouped source = random_groups(t * 4 + 1);
    if (source.count == 0) continue;
    const std::vector<std::string> names = names_of(source.runs);
    ps::Pipeline p = ps::from(source) | ps::seed(t);
    if (t % 3 == 0) p = p | ps::bags(1 + mix(t) % 30);
    const std::uint64_t rows = 1 + mix(t + 1) % 12;
    if (t % 4 == 3) p = p | ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() % 3 != 0; });
    p = p | ps::batch(rows, {.by = ps::BatchOptions::By::group});
    const std::vector<Got> one = collect(p, {.threads = 1}, 2);
    CAPTURE(t, rows);
    CHECK(collect(p, {.threads = 3}, 2) == one);
    for (std::size_t b = 0; b < one.size(); ++b) {
      const auto& indices = one[b].indices;
      REQUIRE(!indices.empty());
      for (const std::uint64_t i : indices) REQUIRE(names[i] == names[indices.front()]);
      // It ended for a reason.
      if (indices.size() < rows && b + 1 < one.size() && one[b + 1].epoch == one[b].epoch)
        REQUIRE(names[one[b + 1].indices.front()] != names[indices.front()]);
    }
    // A state in the middle goes on with the same batches.
    if (one.size() < 4) continue;
    ps::Loader loader(p, {.threads = 2});
    std::size_t next = 0;
    while (next < one.size() / 2)
      if (const auto b = loader.next()) REQUIRE(copy(*b) == one[next++]);
    ps::Loader rest(p, {.threads = 3});
    rest.resume(loader.state());
    while (next < one.size())
      if (const auto b = rest.next()) REQUIRE(copy(*b) == one[next++]);
  }
}

TEST_CASE("a batch of a group ends where the pass does, and has no stand-ins") {
  Grouped source;
  source.count = 6;
  source.runs = {{"a", 3}, {"b", 6}};
  const ps::Pipeline p = ps::from(source) | ps::bags(8) | ps::batch(8, {.by = ps::BatchOptions::By::group});
  ps::Loader loader(p | ps::for_rank({.rank = 0, .world = 1, .steps_per_epoch = 40}), {.threads = 2, .epochs = 1});
  for (const ps::Batch& b : loader.epoch()) {
    CHECK(b.size() == 3);
    CHECK(std::set<std::uint64_t>(b.indices().begin(), b.indices().end()).size() == 3);
  }
  const ps::Stage replace = ps::on_error({.policy = ps::OnError::replace});
  CHECK(has(cause_of([&] { (void)(p | replace); }), "another group"));
  CHECK(has(cause_of([&] { (void)(ps::from(source) | replace | ps::batch(8, {.by = ps::BatchOptions::By::group})); }),
            "another group"));
  // What is drawn depends on the groups' names, and a state says so.
  Grouped renamed = source;
  renamed.runs = {{"a", 3}, {"c", 6}};
  const auto state = [](const Grouped& of) {
    ps::Loader fresh(ps::from(of) | ps::bags(2) | ps::batch(2), {.threads = 1});
    (void)fresh.next();
    return fresh.state();
  };
  ps::Loader other(ps::from(renamed) | ps::bags(2) | ps::batch(2), {.threads = 1});
  CHECK(error_of([&] { other.resume(state(source)); })->code() == ps::Errc::state_mismatch);
  // Groups that are no runs are refused wherever they come from.
  Grouped wrong = source;
  wrong.runs = {{"a", 3}, {"b", 5}};
  struct Backwards : Records {
    std::string key(std::uint64_t i) const { return Records::key(count - 1 - i); }
  };
  Backwards back;
  back.count = 6;
  CHECK(has(cause_of([&] {
              (void)(ps::from(ps::pair({{back}, {wrong, "w_"}})) | ps::bags(4));
            }),
            "ascend to its size"));
  // Joins of joins of joins.
  ps::AnySource all = source;
  for (int i = 0; i < 40; ++i) all = ps::concat(all, source);
  CHECK(ps::detail::groups_of(*all.model(), "test").size() == 82);
}
