// SPDX-License-Identifier: Apache-2.0
// Random pipelines on several ranks, through the engine and through the model of one rank. PENSTOCK_SEED starts
// elsewhere; a failure prints the seed of its pipeline.
#include "support/catch.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "core/help.hpp"
#include "core/model/random_run.hpp"
#include "core/model/random_spec.hpp"

using namespace help;
using namespace random_run;

namespace {

using Events = std::vector<model::Event>;

// How a field lies in a batch's bytes (`append_field`).
struct Layout {
  std::size_t row_bytes = 0;  ///< of a row that has a place
  std::size_t element = 0;    ///< ragged: bytes of one
  std::size_t rank = 0;       ///< ragged: of its shape
  bool lengths = false, ragged = false;
};
Layout layout_of(const ps::Field& f) {
  using Kind = ps::Collate::Kind;
  if (f.collate.kind == Kind::ragged) return {0, ps::size_of(f.dtype), f.shape.rank(), true, true};
  ps::Shape row = f.shape;
  if (f.collate.kind == Kind::pad) row[0] = f.collate.to;
  return {row.elements() * ps::size_of(f.dtype), 0, 0, f.collate.kind == Kind::pad, false};
}

// One rank's batch after another's.
void append(model::Event& batch, const model::Event& part, const std::vector<Layout>& fields) {
  std::vector<std::uint8_t> bytes;
  auto of_batch = batch.bytes.begin();
  auto of_part = part.bytes.begin();
  const auto take = [&bytes](auto& from, std::size_t n) {
    bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(n));
    from += static_cast<std::ptrdiff_t>(n);
  };
  const std::size_t rows_here = batch.indices.size(), rows_there = part.indices.size();
  for (const Layout& field : fields) {
    const auto both = [&](std::size_t here, std::size_t there) {
      take(of_batch, here);
      take(of_part, there);
    };
    // Shapes stand before the rows that have them.
    const auto ragged_bytes = [&field](auto shapes, std::size_t rows) {
      std::size_t sum = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        std::size_t row = field.element;
        for (std::size_t d = 0; d < field.rank; ++d, shapes += 8) {
          std::uint64_t dim = 0;
          std::memcpy(&dim, &*shapes, 8);
          row *= dim;
        }
        sum += row;
      }
      return sum;
    };
    if (field.ragged) {
      const std::size_t here = ragged_bytes(of_batch, rows_here), there = ragged_bytes(of_part, rows_there);
      both(rows_here * field.rank * 8, rows_there * field.rank * 8);
      both(here, there);
    } else {
      both(rows_here * field.row_bytes, rows_there * field.row_bytes);
    }
    if (field.lengths) both(rows_here * 8, rows_there * 8);
  }
  batch.bytes = std::move(bytes);
  batch.indices.insert(batch.indices.end(), part.indices.begin(), part.indices.end());
  batch.mask.insert(batch.mask.end(), part.mask.begin(), part.mask.end());
}

// `got` must be what the model says.
void compare(const Events& got, const Events& expected, const std::string& which) {
  for (std::size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
    if (i < got.size() && i < expected.size() && got[i] == expected[i]) continue;
    FAIL(which << "\n  event " << i << "\n  model  " << (i < expected.size() ? text(expected[i]) : "-") << "\n  engine "
               << (i < got.size() ? text(got[i]) : "-"));
  }
}

// One pipeline on several ranks, broken off at some step and gone on with by another number of them.
class Ranks {
 public:
  Ranks(ps::Pipeline pipeline, u64 world, std::function<ps::LoaderOptions(u64)> options)
      : pipeline_(std::move(pipeline)), options_(std::move(options)) {
    make(world);
    for (const ps::Field& f : pipeline_.schema()) fields_.push_back(layout_of(f));
  }
  // Events of each rank, until `most` of them.
  std::vector<Events> play_all(u64 epochs, std::size_t most) {
    std::vector<Events> all(loaders_.size());
    for (std::size_t r = 0; r < all.size(); ++r) play(loaders_[r], epochs, most, all[r]);
    return all;
  }
  // What they have together.
  Events join(const std::vector<Events>& all) const {
    Events out = all[0];
    for (std::size_t r = 1; r < all.size(); ++r) {
      REQUIRE(all[r].size() == out.size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        REQUIRE((all[r][i].epoch == out[i].epoch && all[r][i].number == out[i].number && !all[r][i].failed));
        append(out[i], all[r][i], fields_);
      }
    }
    return out;
  }
  // From the state of `saver`, on so many ranks.
  void resume(std::size_t saver, u64 world) {
    const ps::State saved = loaders_[saver].state();
    for (const ps::Loader& loader : loaders_) {
      const ps::State s = loader.state();
      REQUIRE((s.epoch == saved.epoch && s.number == saved.number && s.position == saved.position &&
               s.step == saved.step && s.fingerprint == saved.fingerprint));
    }
    for (u64 r = 0; r < loaders_.size(); ++r) acted_ += acted_of(r);
    make(world);
    before_ = saved.replaced;
    for (ps::Loader& loader : loaders_) loader.resume(saved);
  }
  // Samples that the policy acted on, on one rank since the last resume, and on all.
  u64 acted_of(u64 rank) const { return loaders_[rank].state().replaced - before_; }
  u64 acted() const {
    u64 sum = acted_;
    for (u64 r = 0; r < loaders_.size(); ++r) sum += acted_of(r);
    return sum;
  }

 private:
  void make(u64 world) {
    loaders_.clear();
    for (u64 r = 0; r < world; ++r)
      loaders_.emplace_back(pipeline_ | ps::for_rank({.rank = static_cast<int>(r), .world = static_cast<int>(world)}),
                            options_(100 * ++made_ + r));
  }

  ps::Pipeline pipeline_;
  std::function<ps::LoaderOptions(u64)> options_;
  std::vector<ps::Loader> loaders_;
  std::vector<Layout> fields_;
  u64 made_ = 0, acted_ = 0, before_ = 0;
};

}  // namespace

TEST_CASE("random pipelines on several ranks bring together what the model says of one") {
  const Watchdog dog(600s, "a random pipeline on several ranks");
  const auto [base, count] = seeds(20260000, 3000);
  u64 shared = 0, failing = 0, resumed = 0, empty_parts = 0, batches = 0, acted_on = 0;
  std::array<u64, 3> tails{};
  for (u64 seed = base; seed < base + count; ++seed) {
    const auto spec = std::make_shared<const model::Spec>(model::random_spec(seed));
    if (model::reordered(*spec) || model::max_rows(*spec) < 2 || model::never_comes(*spec)) continue;
    ++shared;
    ++tails[static_cast<std::size_t>(spec->tail)];
    const std::string which = "PENSTOCK_SEED=" + std::to_string(seed) + "\n  " + model::describe(*spec);
    const u64 epochs = 1 + mix(seed) % 3, max_ranks = std::min<u64>(model::max_rows(*spec), 6);
    const auto some_ranks = [&](u64 salt) { return 1 + mix(seed + salt) % max_ranks; };
    const u64 world = std::max<u64>(some_ranks(30), 2), then = some_ranks(31);
    u64 acted = 0;
    const Events expected = model::run(*spec, epochs, acted);
    const ps::Pipeline p = build(spec, mix(seed + 1) % 2 == 0, mix(seed + 2) % 4 != 0);
    Ranks ranks(p, world, [&](u64 salt) { return some_options(seed, salt); });
    // What ends an epoch on one rank does not on the others, and rows may be as long as the longest of a rank:
    // each for itself.
    bool fails = std::ranges::any_of(expected, &model::Event::failed);
    // Of an epoch a rank may have bad samples alone.
    for (const u64 of : {world, then})
      for (u64 r = 0; r < of; ++r) {
        u64 ignored = 0;
        fails = fails || std::ranges::any_of(model::run(*spec, epochs, ignored, {r, of}), &model::Event::failed);
      }
    const bool widths_differ =
        std::ranges::any_of(spec->collates, [](const auto& c) { return c.second.pads && c.second.to == 0; });
    if (fails || widths_differ) {
      failing += fails;
      const std::vector<Events> got = ranks.play_all(epochs, ~std::size_t{0});
      for (u64 r = 0; r < world; ++r) {
        u64 acted_here = 0;
        const std::string of = which + "\n  rank " + std::to_string(r) + " of " + std::to_string(world);
        compare(got[r], model::run(*spec, epochs, acted_here, {r, world}), of);
        if (ranks.acted_of(r) != acted_here)
          FAIL(of << ": the policy acted on " << ranks.acted_of(r) << " samples, the model's on " << acted_here);
      }
      continue;
    }
    const bool resumes = mix(seed + 3) % 2 == 0;
    std::vector<Events> parts =
        ranks.play_all(epochs, resumes ? mix(seed + 4) % (expected.size() + 1) : ~std::size_t{0});
    Events got = ranks.join(parts);
    if (resumes) {
      ++resumed;
      ranks.resume(mix(seed + 5) % world, then);
      const Events rest = ranks.join(ranks.play_all(epochs, ~std::size_t{0}));
      got.insert(got.end(), rest.begin(), rest.end());
    }
    compare(got, expected, which + "\n  " + std::to_string(world) + " ranks, then " + std::to_string(then));
    if (ranks.acted() != acted)
      FAIL(which << ": the policy acted on " << ranks.acted() << " samples, the model's on " << acted);
    for (const Events& part : parts)
      for (const model::Event& e : part) empty_parts += e.indices.empty();
    batches += got.size();
    acted_on += acted;
  }
  std::printf(
      "%llu of %llu pipelines on 2 to 6 ranks, %llu batches, %llu resumed by another number of ranks, %llu with errors "
      "thrown, %llu samples acted on, %llu parts without a row\n  tails keep %llu, drop %llu, pad %llu\n",
      static_cast<unsigned long long>(shared), static_cast<unsigned long long>(count),
      static_cast<unsigned long long>(batches), static_cast<unsigned long long>(resumed),
      static_cast<unsigned long long>(failing), static_cast<unsigned long long>(acted_on),
      static_cast<unsigned long long>(empty_parts), static_cast<unsigned long long>(tails[0]),
      static_cast<unsigned long long>(tails[1]), static_cast<unsigned long long>(tails[2]));
  if (count >= 1000) {
    CHECK(shared * 100 >= count * 15);
    CHECK(resumed * 100 >= shared * 25);
    CHECK(failing * 100 >= shared * 5);
    CHECK(acted_on > 0);
    CHECK(empty_parts * 1000 >= batches);
    for (const u64 n : tails) CHECK(n * 100 >= shared * 20);
  }
}

TEST_CASE("random pipelines with functions on batches bring on each rank what the model says, and resume there") {
  const Watchdog dog(600s, "a random pipeline with functions on batches, on several ranks");
  const auto [base, count] = seeds(20270000, 1500);
  u64 played = 0, resumed = 0;
  for (u64 seed = base; seed < base + count; ++seed) {
    const auto drawn = std::make_shared<model::Spec>(model::random_spec(seed));
    model::add_maps(*drawn, seed);
    const std::shared_ptr<const model::Spec> spec = drawn;
    if (model::reordered(*spec) || model::max_rows(*spec) < 2 || model::never_comes(*spec) || spec->maps.empty())
      continue;
    ++played;
    const u64 epochs = 1 + mix(seed) % 3, world = 2 + mix(seed + 30) % (std::min<u64>(model::max_rows(*spec), 6) - 1);
    const ps::Pipeline p = build(spec, mix(seed + 1) % 2 == 0, mix(seed + 2) % 4 != 0);
    for (u64 r = 0; r < world; ++r) {
      u64 ignored = 0;
      const Events expected = model::run(*spec, epochs, ignored, {r, world});
      const std::string which = "PENSTOCK_SEED=" + std::to_string(seed) + "\n  " + model::describe(*spec) +
                                "\n  rank " + std::to_string(r) + " of " + std::to_string(world);
      const ps::Pipeline on_rank = p | ps::for_rank({.rank = static_cast<int>(r), .world = static_cast<int>(world)});
      Events got;
      ps::Loader loader(on_rank, some_options(seed, 70 + r));
      // Broken off at a random step and gone on with by another loader, unless something fails.
      const bool fails = std::ranges::any_of(expected, &model::Event::failed);
      play(loader, epochs, fails ? ~u64{0} : mix(seed + r + 4) % (expected.size() + 1), got);
      if (!fails) {
        ++resumed;
        ps::Loader rest(on_rank, some_options(seed, 80 + r));
        rest.resume(loader.state());
        play(rest, epochs, ~std::size_t{0}, got);
      }
      compare(got, expected, which);
    }
  }
  std::printf("%llu of %llu pipelines with functions on batches on 2 to 6 ranks, %llu resumed\n",
              static_cast<unsigned long long>(played), static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(resumed));
  if (count >= 1000) CHECK(resumed * 20 >= count);
}
