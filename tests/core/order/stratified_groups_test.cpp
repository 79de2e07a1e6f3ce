// SPDX-License-Identifier: Apache-2.0
// Splits by group that give each value of a field its share.
#include "support/catch.hpp"

#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/order/order_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

constexpr auto by_group = ps::SplitOptions::By::group;
using Labels = std::vector<std::int64_t>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Pictures of patients, and what each shows.
struct Patients {
  std::vector<ps::Group> runs;
  Labels shown;
  std::uint64_t size() const { return shown.size(); }
  ps::Schema schema() const { return {{"label", ps::DType::i64, {}}, {"x", ps::DType::u8, {}}}; }
  std::string name() const { return "patients"; }
  std::vector<ps::Group> groups() const { return runs; }
  std::optional<Labels> labels(std::string_view) const { return shown; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i >= size()) throw ps::Error(ps::Errc::not_found, "past the end");
    out.scalar<std::int64_t>(0, shown[i]);
    out.scalar<std::uint8_t>(1, 0);
  }
  void add(const std::string& patient, const Labels& pictures) {
    shown.insert(shown.end(), pictures.begin(), pictures.end());
    runs.push_back({patient, shown.size()});
  }
  std::vector<std::string> whose() const {
    std::vector<std::string> names;
    for (const ps::Group& run : runs) names.resize(run.end, run.name);
    return names;
  }
};

// Patients whose groups are told by keys.
struct InFolders : Patients {
  std::vector<std::string> names;
  explicit InFolders(const Patients& patients) : Patients(patients), names(patients.whose()) {}
  std::vector<ps::Group> groups() const { return {}; }
  std::string key(std::uint64_t i) const { return names.at(i) + "/" + std::to_string(i); }
};

// Some patients in several runs, most with few kinds of pictures.
Patients random_patients(std::uint64_t t) {
  Patients source;
  const std::uint64_t patients = 1 + mix(t) % 25, runs = patients + mix(t + 1) % 20, kinds = 1 + mix(t + 2) % 5;
  for (std::uint64_t r = 0; r < runs; ++r) {
    const std::uint64_t patient = r < patients ? r : mix(t * 31 + r) % patients;
    Labels pictures;
    for (std::uint64_t i = 0; i < 1 + mix(t * 1000 + r) % (t % 3 == 0 ? 40 : 6); ++i)
      pictures.push_back(static_cast<std::int64_t>((patient + mix(r * 97 + i) % 2) % kinds) - 2);
    source.add("p" + std::to_string(patient), pictures);
  }
  return source;
}

// What is true of the parts, counted anew each time: the sum that the contract names.
class Model {
 public:
  Model(const Patients& source, const std::vector<double>& shares) : shares_(shares) {
    double total = 0;
    for (const double share : shares) total += share;
    for (double& share : shares_) share /= total;
    const auto names = source.whose();
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      ++pictures_[names[i]][source.shown[i]];
      ++in_all_[source.shown[i]];
    }
  }
  double distance(const std::map<std::string, std::uint64_t>& parts) const {
    double sum = 0;
    for (std::uint64_t part = 0; part < shares_.size(); ++part)
      for (const auto& [value, all] : in_all_) {
        double records = 0;
        for (const auto& [name, counts] : pictures_)
          if (parts.at(name) == part && counts.contains(value)) records += static_cast<double>(counts.at(value));
        const double off = records - shares_[part] * static_cast<double>(all);
        sum += off * off / static_cast<double>(all);
      }
    return sum;
  }
  // How much nearer one group in another part would bring it.
  double best_move(std::map<std::string, std::uint64_t> parts) const {
    const double now = distance(parts);
    double best = 0;
    for (auto& [name, part] : parts) {
      const std::uint64_t before = part;
      for (std::uint64_t other = 0; other < shares_.size(); ++other) {
        if (other == before || shares_[other] == 0) continue;
        part = other;
        best = std::max(best, now - distance(parts));
      }
      part = before;
    }
    return best;
  }
  double optimum() const {
    double least = std::numeric_limits<double>::infinity();
    for (std::uint64_t choice = 0; choice < std::uint64_t{1} << pictures_.size(); ++choice) {
      std::map<std::string, std::uint64_t> parts;
      std::uint64_t bits = choice;
      for (const auto& [name, counts] : pictures_) {
        parts[name] = bits & 1;
        bits >>= 1;
      }
      least = std::min(least, distance(parts));
    }
    return least;
  }

 private:
  std::vector<double> shares_;
  std::map<std::string, std::map<std::int64_t, std::uint64_t>> pictures_;
  std::map<std::int64_t, std::uint64_t> in_all_;
};

template <class S>
std::vector<std::uint64_t> members(const S& source, const std::vector<double>& shares, std::uint64_t part,
                                   std::uint64_t salt = 0) {
  try {
    return order_of(ps::from(source) |
                    ps::split({.shares = shares, .part = part, .by = by_group, .salt = salt, .stratify = "label"}));
  } catch (const ps::Error& error) {
    INFO(error.what());
    REQUIRE(has(error.cause(), "gets none"));
    REQUIRE(shares[part] > 0);
    return {};
  }
}

template <class S>
std::map<std::string, std::uint64_t> parts_of(const S& source, const std::vector<double>& shares,
                                              std::uint64_t salt = 0) {
  const auto names = source.whose();
  std::map<std::string, std::uint64_t> parts;
  std::vector<std::uint64_t> all;
  for (std::uint64_t part = 0; part < shares.size(); ++part) {
    const auto here = members(source, shares, part, salt);
    CHECK(std::ranges::is_sorted(here));
    if (shares[part] == 0) CHECK(here.empty());
    for (const std::uint64_t i : here) REQUIRE(parts.emplace(names[i], part).first->second == part);
    all.insert(all.end(), here.begin(), here.end());
  }
  REQUIRE(sorted(all) == numbers(source.size()));
  return parts;
}

std::vector<double> shares_for(std::uint64_t t) {
  return t % 3 == 0   ? std::vector<double>{0.8, 0.2}
         : t % 3 == 1 ? std::vector<double>{3, 1, 0, 2}
                      : std::vector<double>{0.7, 0.15, 0.15};
}

}  // namespace

TEST_CASE("a stratified split by group keeps groups whole, and no group could be moved to bring it nearer") {
  for (std::uint64_t t = 0; t < 150; ++t) {
    const Patients source = random_patients(t);
    const std::vector<double> shares = shares_for(t / 2);
    CAPTURE(t, source.size(), source.runs.size());
    const auto parts = parts_of(source, shares, t);
    CHECK(Model(source, shares).best_move(parts) < 1e-6);
    CHECK(parts_of(InFolders(source), shares, t) == parts);
  }
}

TEST_CASE("of few groups the nearest split of several is taken, which is mostly the nearest there is") {
  int nearest = 0, tried = 0;
  for (std::uint64_t t = 0; tried < 100; ++t) {
    const Patients source = random_patients(t);
    const auto names = source.whose();
    if (std::set<std::string>(names.begin(), names.end()).size() > 9) continue;
    ++tried;
    const Model model(source, {0.8, 0.2});
    if (model.distance(parts_of(source, {0.8, 0.2}, t)) <= model.optimum() + 1e-9) ++nearest;
  }
  CHECK(nearest >= 98);
}

TEST_CASE("thirty patients of one size are split as the shares say") {
  Patients source;
  for (int p = 0; p < 30; ++p) source.add("patient-" + std::to_string(p), Labels(10, p % 2));
  std::set<std::vector<std::uint64_t>> seen;
  for (std::uint64_t salt = 0; salt < 20; ++salt) {
    CHECK(members(source, {0.8, 0.2}, 0, salt).size() == 240);
    const auto validation = members(source, {0.8, 0.2}, 1, salt);
    CHECK(validation.size() == 60);
    std::map<std::int64_t, int> shown;
    for (const std::uint64_t i : validation) ++shown[source.shown[i]];
    CHECK(shown == std::map<std::int64_t, int>{{0, 30}, {1, 30}});
    seen.insert(validation);
  }
  CHECK(seen.size() == 20);  // another salt makes another split
  const ps::Pipeline p =
      ps::from(source) | ps::split({.shares = {0.8, 0.2}, .part = 0, .by = by_group, .stratify = "label"});
  CHECK(has(p.plan(),
            "by group, each label alike, salt 0: 24 of 30 groups, 240 of 300 records; each label has its share"));
  CHECK(p.fingerprint() != (ps::from(source) | ps::split({.shares = {0.8, 0.2}, .by = by_group})).fingerprint());
}

TEST_CASE("the order of records and of groups decides nothing, and plan() names the value that is farthest") {
  const Patients source = random_patients(6);
  Patients turned;
  std::uint64_t end = source.size();
  for (std::size_t r = source.runs.size(); r-- > 0;) {
    const std::uint64_t begin = r == 0 ? 0 : source.runs[r - 1].end;
    turned.add(source.runs[r].name, Labels(source.shown.begin() + static_cast<std::ptrdiff_t>(begin),
                                           source.shown.begin() + static_cast<std::ptrdiff_t>(end)));
    end = begin;
  }
  for (std::uint64_t salt = 0; salt < 5; ++salt)
    CHECK(parts_of(source, {0.6, 0.4}, salt) == parts_of(turned, {0.6, 0.4}, salt));
  Patients uneven;
  uneven.add("a", Labels(90, 7));
  uneven.add("b", Labels(20, 7));
  uneven.add("c", Labels(30, -1));
  uneven.add("d", Labels(10, -1));
  const ps::Pipeline p =
      ps::from(uneven) | ps::split({.shares = {1, 1}, .part = 0, .by = by_group, .stratify = "label"});
  INFO(p.plan());
  CHECK(has(p.plan(), "2 of 4 groups"));
  CHECK((has(p.plan(), "farthest from its share is label 7 with 90 of 110") ||
         has(p.plan(), "farthest from its share is label 7 with 20 of 110")));
}

TEST_CASE("a stratified split by group is refused where it can't be made") {
  Patients source;
  source.add("a", {1, 2});
  source.add("b", {1, 2});
  const auto cause = [&](ps::SplitOptions options) {
    options.by = options.by == ps::SplitOptions::By::index ? by_group : options.by;
    const auto error = error_of([&] { (void)(ps::from(source) | ps::split(options)); });
    REQUIRE(error);
    CHECK(error->stage() == "split");
    return std::string(error->cause());
  };
  CHECK(has(cause({.shares = {0.99, 0.01}, .part = 1, .stratify = "label"}), "of 2 groups part 1 gets none"));
  CHECK(has(cause({.by = ps::SplitOptions::By::key, .stratify = "label"}), "split by index, or by group"));
  CHECK(has(cause({.stratify = "y"}), "there is no field \"y\""));
  const auto late =
      error_of([&] { (void)(ps::from(source) | ps::take(2) | ps::split({.by = by_group, .stratify = "label"})); });
  REQUIRE(late);
  CHECK(has(late->cause(), "directly after the source"));
  Patients none;
  CHECK((ps::from(none) | ps::split({.by = by_group, .stratify = "label"})).size() == 0);
}

TEST_CASE("many groups of many classes come within a record or two of their shares") {
  Patients source;
  for (std::uint64_t g = 0; g < 20'000; ++g) {
    Labels pictures;
    for (std::uint64_t i = 0; i < 1 + mix(g) % 12; ++i)
      pictures.push_back(static_cast<std::int64_t>((g % 40 + mix(g * 17 + i) % 3) % 40));
    source.add("p" + std::to_string(g), pictures);
  }
  std::map<std::int64_t, double> all, here;
  for (const std::int64_t value : source.shown) ++all[value];
  const auto validation = members(source, {0.9, 0.1}, 1);
  for (const std::uint64_t i : validation) ++here[source.shown[i]];
  for (const auto& [value, records] : all) CHECK(std::abs(here[value] - 0.1 * records) < 3);
}

}  // namespace PENSTOCK_TEST_FILE
