#include "bench/compare.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <penstock/extend/store_files.hpp>

namespace penstock::cli {

namespace {

// More pairs say hardly more, and take room by their square.
constexpr std::size_t most_pairs = 500;

struct Round {
  Setting setting;
  double began_s, samples_per_s;
  std::string hash;
};

std::vector<Round> rounds_of(const std::string& file) {
  const Json json = Json::parse(read_text(file, "result of bench").value_or(""), nullptr, false);
  std::vector<Round> all;
  try {
    for (const Json& run : json.at("runs")) {
      const Json hash = run.at("hash");
      all.push_back({{run.at("threads"), run.at("depth"), run.at("block_bytes")},
                     run.at("began_s"),
                     run.at("samples_per_s"),
                     hash.is_string() ? hash.get<std::string>() : ""});
    }
  } catch (const Json::exception&) {
    throw UsageError("--compare: " + file + " is no result of penstock bench --json FILE");
  }
  std::ranges::stable_sort(all, {}, &Round::began_s);
  return all;
}

std::vector<Round> of_setting(const std::vector<Round>& all, const Setting& setting) {
  std::vector<Round> same;
  std::ranges::copy_if(all, std::back_inserter(same), [&](const Round& r) { return r.setting == setting; });
  return same;
}

// By turns, one comes after the other about as often as there are pairs, or twice as often.
bool taken_in_turns(const std::vector<Round>& first, const std::vector<Round>& second) {
  std::vector<std::pair<double, int>> all;
  for (const Round& r : first) all.emplace_back(r.began_s, 0);
  for (const Round& r : second) all.emplace_back(r.began_s, 1);
  std::ranges::sort(all);
  std::size_t changes = 0;
  for (std::size_t i = 1; i < all.size(); ++i) changes += all[i].second != all[i - 1].second ? 1 : 0;
  return 2 * changes >= std::min(first.size(), second.size());
}

std::optional<Comparison> compare(const std::vector<Round>& first, const std::vector<Round>& second) {
  Comparison out;
  out.setting = first.front().setting;
  out.rounds = std::min({first.size(), second.size(), most_pairs});
  out.in_turns = taken_in_turns(first, second);
  std::vector<double> logs;
  for (std::size_t i = 0; i < out.rounds; ++i) {
    logs.push_back(std::log(second[i].samples_per_s / first[i].samples_per_s));
    if (!first[i].hash.empty() && !second[i].hash.empty() && first[i].hash != second[i].hash) out.same_results = false;
  }
  const std::optional<Interval> interval = signed_rank_interval(logs, compare_confidence);
  if (!interval) return std::nullopt;
  out.ratio = {std::exp(interval->middle), std::exp(interval->low), std::exp(interval->high)};
  return out;
}

std::string faster_or_slower(double ratio) {
  return fmt::format("{:.1f} % {}", 100 * std::abs(ratio - 1), ratio < 1 ? "slower" : "faster");
}

}  // namespace

std::vector<Comparison> compare_results(const std::string& first, const std::string& second) {
  const std::vector<Round> all_first = rounds_of(first), all_second = rounds_of(second);
  std::vector<Comparison> out;
  std::size_t most = 0;
  std::vector<Setting> seen;
  for (const Round& round : all_first) {
    if (std::ranges::find(seen, round.setting) != seen.end()) continue;
    seen.push_back(round.setting);
    const std::vector<Round> one = of_setting(all_first, round.setting), other = of_setting(all_second, round.setting);
    most = std::max(most, std::min(one.size(), other.size()));
    if (other.empty()) continue;
    if (const std::optional<Comparison> found = compare(one, other)) out.push_back(*found);
  }
  if (out.empty())
    throw UsageError(most == 0 ? "--compare: the two files have no number of threads, depth and block bytes in common"
                               : fmt::format("--compare: {} rounds of each are too few to say anything: at least 8 are "
                                             "needed (--rounds, or --append)",
                                             most));
  return out;
}

std::string compare_text(const std::vector<Comparison>& all) {
  std::string out;
  for (const Comparison& c : all) {
    out += fmt::format("{}: ", setting_text(c.setting));
    out += c.differs() ? "the second is " + faster_or_slower(c.ratio.middle)
                       : "no difference: the second is " + faster_or_slower(c.ratio.middle);
    out += fmt::format(", between {} and {} ({:.0f} % sure, {} rounds of each)\n", faster_or_slower(c.ratio.low),
                       faster_or_slower(c.ratio.high), 100 * compare_confidence, c.rounds);
    if (!c.in_turns)
      out += "  the rounds were not taken in turns: whatever else changed between the two counts as a difference\n";
    if (!c.same_results) out += "  their hashes differ: the two do not deliver the same\n";
  }
  return out;
}

Json compare_json(const std::vector<Comparison>& all) {
  Json out = Json::array();
  for (const Comparison& c : all)
    out.push_back({{"threads", c.setting.threads},
                   {"depth", c.setting.depth},
                   {"block_bytes", c.setting.block_bytes},
                   {"rounds", c.rounds},
                   {"ratio", c.ratio.middle},
                   {"ratio_low", c.ratio.low},
                   {"ratio_high", c.ratio.high},
                   {"differs", c.differs()},
                   {"in_turns", c.in_turns},
                   {"same_results", c.same_results}});
  return {{"confidence", compare_confidence}, {"settings", std::move(out)}};
}

}  // namespace penstock::cli
