// SPDX-License-Identifier: Apache-2.0
// Bags of one size, shared by ranks as wholes.
#include "support/catch.hpp"

#include <set>

#include "core/order/order_help.hpp"

using namespace help;

namespace {

struct OfSlides : Records {
  std::vector<ps::Group> runs;
  std::vector<ps::Group> groups() const { return runs; }
  std::string slide_of(std::uint64_t record) const {
    return std::ranges::upper_bound(runs, record, {}, &ps::Group::end)->name;
  }
};

OfSlides random_cohort(std::uint64_t t, std::uint64_t slides) {
  OfSlides source;
  for (std::uint64_t s = 0; s < slides; ++s)
    source.runs.push_back({"slide-" + std::to_string(s), source.count += mix(t * 100 + s) % 40});
  return source;
}

constexpr std::uint64_t padding = ~std::uint64_t{0};

// The slides of a batch's bags, each of `size` rows; an empty name for a bag of padding.
std::vector<std::string> slides_of(const OfSlides& source, std::uint64_t size, const Got& batch) {
  REQUIRE(batch.indices.size() % size == 0);
  std::vector<std::string> slides;
  for (std::size_t first = 0; first < batch.indices.size(); first += size) {
    std::set<std::uint64_t> records;
    std::set<std::string> names;
    for (std::size_t row = first; row < first + size; ++row) {
      const std::uint64_t record = batch.indices[row];
      names.insert(record == padding ? "" : source.slide_of(record));
      records.insert(record);
    }
    REQUIRE(names.size() == 1);
    if (!names.contains("")) REQUIRE(records.size() == size);
    slides.push_back(*names.begin());
  }
  return slides;
}

}  // namespace

TEST_CASE("ranks share batches of bags of one size by whole bags") {
  const Watchdog dog(120s);
  for (std::uint64_t t = 0; t < 30; ++t) {
    const std::uint64_t size = 1 + mix(t) % 12, world = 1 + t % 4, each = 1 + mix(t + 1) % 3;
    const OfSlides source = random_cohort(t, 2 + mix(t + 2) % 30);
    std::set<std::string> large;
    for (std::uint64_t first = 0; const ps::Group& slide : source.runs) {
      if (slide.end - first >= size) large.insert(slide.name);
      first = slide.end;
    }
    if (large.empty()) continue;
    const ps::Tail tail = t % 2 == 0 && large.size() >= each * world ? ps::Tail::drop : ps::Tail::pad;
    const ps::Pipeline p = ps::from(source) | ps::bags(size, {.seed = t, .min_size = size}) |
                           ps::batch(size * each * world, {.tail = tail});
    const std::uint64_t bags = large.size(), in_a_step = each * world;
    CAPTURE(t, size, world, each, bags);
    std::vector<ps::Loader> ranks;
    for (std::uint64_t rank = 0; rank < world; ++rank)
      ranks.emplace_back(p | ps::for_rank({.rank = static_cast<int>(rank), .world = static_cast<int>(world)}),
                         ps::LoaderOptions{.threads = 1 + static_cast<unsigned>(rank % 3)});
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      std::multiset<std::string> seen;
      std::uint64_t steps = 0;
      std::vector<std::vector<Got>> of_ranks;
      for (ps::Loader& rank : ranks) of_ranks.push_back(collect(rank));
      for (const std::vector<Got>& batches : of_ranks) {
        REQUIRE(batches.size() == of_ranks.front().size());
        steps = batches.size();
        for (const Got& batch : batches) {
          REQUIRE(batch.epoch == epoch);
          const std::vector<std::string> slides = slides_of(source, size, batch);
          REQUIRE(slides.size() == each);
          seen.insert(slides.begin(), slides.end());
        }
      }
      seen.erase("");
      // No slide twice; all of them where nothing is dropped.
      REQUIRE(std::set<std::string>(seen.begin(), seen.end()).size() == seen.size());
      REQUIRE(std::ranges::includes(large, seen));
      const std::uint64_t whole_steps = bags / in_a_step;
      REQUIRE(steps == (tail == ps::Tail::drop ? whole_steps : (bags + in_a_step - 1) / in_a_step));
      REQUIRE(seen.size() == (tail == ps::Tail::drop ? whole_steps * in_a_step : bags));
    }
  }
}

TEST_CASE("bags that four ranks began two go on with") {
  const Watchdog dog(60s);
  const OfSlides source = random_cohort(7, 60);
  constexpr std::uint64_t size = 5, in_a_step = 8;
  const ps::Pipeline p = ps::from(source) | ps::bags(size, {.seed = 3, .min_size = size}) |
                         ps::batch(size * in_a_step, {.tail = ps::Tail::drop});
  const std::vector<Got> one = collect(p, {.threads = 1}, 2);
  REQUIRE(one.size() > 4);
  ps::State state;
  std::size_t next = 0;
  for (const int world : {4, 2, 1}) {
    std::vector<ps::Loader> ranks;
    for (int rank = 0; rank < world; ++rank) {
      ranks.emplace_back(p | ps::for_rank({.rank = rank, .world = world}), ps::LoaderOptions{.threads = 2});
      if (next != 0) ranks.back().resume(state);
    }
    for (std::size_t steps = 0; steps < 2; ++steps, ++next) {
      std::vector<std::uint64_t> together;
      for (ps::Loader& rank : ranks) {
        const auto batch = rank.next();
        REQUIRE(batch);
        const Got part = copy(*batch);
        CHECK(slides_of(source, size, part).size() == in_a_step / static_cast<std::uint64_t>(world));
        together.insert(together.end(), part.indices.begin(), part.indices.end());
      }
      CHECK(together == one[next].indices);
    }
    state = ranks.front().state();
  }
}

TEST_CASE("a plan says which groups are too small for a bag, and what tears bags apart") {
  OfSlides source;
  source.count = 31;
  source.runs = {{"large", 20}, {"unreadable", 21}, {"small", 31}};
  const auto has = [](const ps::Pipeline& p, const std::string& text) {
    return p.plan().find(text) != std::string::npos;
  };
  const ps::Pipeline all = ps::from(source) | ps::bags(10), some = ps::from(source) | ps::bags(10, {.min_size = 10});
  CHECK_FALSE(has(all, "left out:"));
  CHECK(has(some, "left out: 1 group of fewer than 10 records, \"unreadable\" of 1"));
  CHECK(has(ps::from(source) | ps::bags(11, {.min_size = 11}),
            "left out: 2 groups of fewer than 11 records, the first "
            "is \"unreadable\" of 1"));
  const std::string torn = "bags are torn";
  CHECK_FALSE(has(some | ps::batch(20), torn));
  CHECK_FALSE(has(some | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(20), torn));
  for (const ps::OnError policy : {ps::OnError::drop, ps::OnError::replace})
    CHECK(has(some | ps::on_error({.policy = policy}) | ps::batch(20), torn));
  CHECK(has(some | ps::filter([](const ps::Sample&) { return true; }) | ps::batch(20), torn));
  CHECK_FALSE(has(
      some | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(10, {.by = ps::BatchOptions::By::group}), torn));
  CHECK_FALSE(has(ps::from(source) | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(10), torn));
}
