// SPDX-License-Identifier: Apache-2.0
// Splits that keep all parts but one: of every kind they are what the part leaves.
#include "support/catch.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/order/order_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

using By = ps::SplitOptions::By;
using Indices = std::vector<std::uint64_t>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Records with keys, groups in several runs, and labels, so that every kind of split can be made of them.
struct Anything : Records {
  explicit Anything(std::uint64_t n) : Records{.count = n} {
    for (std::uint64_t end = 0, run = 0; end < n; ++run) {
      end = std::min(n, end + 1 + mix(run) % 9);
      runs.push_back({"g" + std::to_string(mix(run) % (1 + n / 6)), end});
    }
  }
  std::vector<ps::Group> runs;
  std::vector<ps::Group> groups() const { return runs; }
  std::optional<std::vector<std::int64_t>> labels(std::string_view) const {
    std::vector<std::int64_t> out;
    for (std::uint64_t i = 0; i < count; ++i) out.push_back(static_cast<std::int64_t>(mix(i) % 7 % 3));
    return out;
  }
};

struct Kind {
  const char* name;
  By by;
  const char* stratify;
};
constexpr Kind kinds[] = {{"index", By::index, ""},
                          {"key", By::key, ""},
                          {"group", By::group, ""},
                          {"stratified", By::index, "y"},
                          {"stratified by group", By::group, "y"}};

ps::SplitOptions options_of(const Kind& kind, const std::vector<double>& shares, std::uint64_t salt) {
  return {.shares = shares, .by = kind.by, .salt = salt, .stratify = kind.stratify};
}

// The pipeline that the options make, or none if no group falls into what is kept.
std::optional<ps::Pipeline> kept_of(const ps::Pipeline& all, const ps::SplitOptions& options) {
  try {
    return all | ps::split(options);
  } catch (const ps::Error& error) {
    INFO(error.what());
    REQUIRE(options.by == By::group);
    REQUIRE((has(error.cause(), "none fell into") || has(error.cause(), "gets none")));
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("all parts but one are the rest of a split of every kind") {
  for (const Kind& kind : kinds)
    for (const std::vector<double>& shares :
         std::vector<std::vector<double>>{{1, 1, 1, 1, 1}, {0.9, 0.1}, {0, 1, 0, 2, 0}, {5}, {0.1, 0.2, 0.3, 0.4}})
      for (const std::uint64_t n : {0u, 1u, 2u, 7u, 97u, 1000u}) {
        const ps::Pipeline all = ps::from(Anything(n));
        for (std::uint64_t k = 0; k < shares.size(); ++k) {
          CAPTURE(kind.name, shares.size(), n, k);
          ps::SplitOptions part = options_of(kind, shares, n), rest = part;
          part.part = k;
          rest.all_but = k;
          const auto held_out = kept_of(all, part), trained = kept_of(all, rest);
          REQUIRE((held_out || trained));
          const Indices out = held_out ? order_of(*held_out) : Indices{}, in = trained ? order_of(*trained) : Indices{};
          Indices together = out;
          together.insert(together.end(), in.begin(), in.end());
          REQUIRE(sorted(together) == numbers(n));
          if (!trained) continue;
          CHECK(order_of(*trained, 4) == in);
          CHECK(same_in_any_access(*trained | ps::repeat(2), 2, in.empty() ? 0 : 5));
          if (kind.by != By::index || *kind.stratify != 0) CHECK(std::ranges::is_sorted(in));
        }
      }
}

TEST_CASE("by index all parts but one come in the order in which the parts follow each other") {
  const std::vector<double> shares{1, 2, 0, 3};
  const ps::Pipeline all = records(1003) | ps::skip(3);
  for (std::uint64_t k = 0; k < shares.size(); ++k) {
    Indices parts;
    for (std::uint64_t p = 0; p < shares.size(); ++p) {
      if (p == k) continue;
      const Indices part = order_of(all | ps::split({.shares = shares, .part = p}));
      parts.insert(parts.end(), part.begin(), part.end());
    }
    CHECK(order_of(all | ps::split({.shares = shares, .all_but = k})) == parts);
  }
  // Without memory, however many records there are.
  const std::uint64_t many = std::uint64_t{1} << 50;
  const ps::Pipeline most = records(many) | ps::split({.shares = {1, 1, 2}, .all_but = 1});
  CHECK(most.size() == many / 4 * 3);
}

TEST_CASE("plans and fingerprints tell all parts but one from each part") {
  const ps::Pipeline all = ps::from(Anything(400));
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    std::set<std::uint64_t> fingerprints;
    for (std::uint64_t k = 0; k < 2; ++k)
      for (const bool all_but : {false, true}) {
        ps::SplitOptions options = options_of(kind, {1, 1}, 0);
        (all_but ? options.all_but : options.part) = k;
        const ps::Pipeline p = all | ps::split(options);
        fingerprints.insert(p.fingerprint());
        const std::string number = std::to_string(k) + " of 1 1, by ";
        CHECK(has(p.plan(), all_but ? "split all but part " + number : "split part " + number));
      }
    CHECK(fingerprints.size() == 4);
    // Without either, part 0 is kept, and the fingerprint is that of part 0.
    ps::SplitOptions first = options_of(kind, {1, 1}, 0), unset = first;
    first.part = 0;
    CHECK((all | ps::split(unset)).fingerprint() == (all | ps::split(first)).fingerprint());
  }
  const ps::Pipeline rest = all | ps::split({.shares = {3, 1}, .all_but = 1, .by = By::group, .stratify = "y"});
  INFO(rest.plan());
  CHECK(has(rest.plan(), " of 400 records; "));
  const std::uint64_t kept = rest.size();
  CHECK(kept > 270);
  CHECK(kept < 330);
  CHECK(has(rest.plan(), ", " + std::to_string(kept) + " of 400 records"));
  CHECK(has(rest.plan(), "each y has its share"));
}

TEST_CASE("a split that says both what to keep and what to leave out is refused, as is a part that is not there") {
  const auto cause = [](const std::function<void()>& f) {
    const auto error = error_of(f);
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->stage() == "split");
    return std::string(error->cause());
  };
  for (const std::uint64_t part : {0u, 1u})
    CHECK(cause([&] {
            (void)ps::split({.shares = {1, 1}, .part = part, .all_but = 0});
          }) == "`part` and `all_but` are both set; set the one that this pipeline needs");
  CHECK(cause([] { (void)ps::split({.shares = {1, 1}, .all_but = 2}); }) == "there is no part 2; the parts are 0 to 1");
  CHECK(has(cause([] { (void)(ps::from(Anything(0)) | ps::shuffle() | ps::split({.all_but = 0})); }),
            "another record in each epoch"));
  // One group is in one part. What is kept beside that part has a share, but no group.
  struct OneGroup : Records {
    std::vector<ps::Group> groups() const { return {{"a", count}}; }
    std::optional<std::vector<std::int64_t>> labels(std::string_view) const {
      return std::vector<std::int64_t>(count, 1);
    }
  };
  OneGroup one;
  one.count = 4;
  for (const std::string stratify : {"", "y"}) {
    int refused = 0;
    for (std::uint64_t k = 0; k < 2; ++k) {
      const auto error = error_of([&] {
        (void)(ps::from(one) | ps::split({.shares = {1, 1}, .all_but = k, .by = By::group, .stratify = stratify}));
      });
      if (!error) continue;
      ++refused;
      CHECK(has(error->cause(), "of 1 groups "));
      CHECK(has(error->cause(), "all but part " + std::to_string(k)));
    }
    CHECK(refused == 1);
    // Nothing is missed if what is kept has no share.
    CHECK((ps::from(one) | ps::split({.shares = {1, 0}, .all_but = 0, .by = By::group, .stratify = stratify})).size() ==
          0);
  }
}

}  // namespace PENSTOCK_TEST_FILE
