// SPDX-License-Identifier: Apache-2.0
#include "bench/compare.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "bench/result.hpp"

namespace penstock::cli {

namespace {

// More pairs add little, and the memory grows with the square of their number.
constexpr std::size_t most_pairs = 500;

struct Round {
  Setting setting;
  double began_s, samples_per_s;
  std::string hash;
};

Round round_of(const Json& run, const std::string& file) {
  const Json& hash = run.at("hash");
  const auto refuse = [&](const std::string& name) {
    return UsageError("--compare: " + file + " has a run whose " + name + " can't be");
  };
  const auto count = [&](const char* name, std::uint64_t most) {
    const Json& value = run.at(name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) throw refuse(name);
    return value.get<std::uint64_t>();
  };
  Round round{
      {static_cast<unsigned>(count("threads", 1u << 20)), static_cast<unsigned>(count("depth", 1u << 20)),
       static_cast<std::size_t>(count("block_bytes", std::uint64_t{1} << 60)), run.value("tune", Json()) == true},
      run.at("began_s"),
      run.at("samples_per_s"),
      hash.is_string() ? hash.get<std::string>() : ""};
  // The loader chose these threads, so they are a result of the run, not a part of its setting.
  if (round.setting.tune) round.setting.threads = 0;
  if (!std::isfinite(round.began_s)) throw refuse("began_s");
  if (!std::isfinite(round.samples_per_s) || round.samples_per_s <= 0) throw refuse("samples_per_s");
  return round;
}

std::vector<Round> rounds_of(const std::string& file) {
  const Json json = read_bench_result(file, "--compare");
  std::vector<Round> all;
  for (const Json& run : json.at("runs")) all.push_back(round_of(run, file));
  std::ranges::stable_sort(all, {}, &Round::began_s);
  return all;
}

std::vector<Round> of_setting(const std::vector<Round>& all, const Setting& setting) {
  std::vector<Round> same;
  std::ranges::copy_if(all, std::back_inserter(same), [&](const Round& r) { return r.setting == setting; });
  return same;
}

struct Pairs {
  std::vector<std::pair<const Round*, const Round*>> all;  // a round of the first result, and one of the second
  bool in_turns = true;
};

// Pairs each round with the next or previous round in time, if that round is of the other result. If fewer than half of
// the smaller result's rounds find a partner in this way, the results were not measured in turns. Then the n-th rounds
// of both results are paired.
Pairs pairs_of(const std::vector<Round>& first, const std::vector<Round>& second) {
  std::vector<std::pair<const Round*, bool>> line;
  for (const Round& r : first) line.emplace_back(&r, false);
  for (const Round& r : second) line.emplace_back(&r, true);
  std::ranges::stable_sort(line, {}, [](const auto& one) { return one.first->began_s; });
  Pairs out;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i].second == line[i + 1].second) continue;
    const auto& [a, b] =
        line[i].second ? std::pair(line[i + 1].first, line[i].first) : std::pair(line[i].first, line[i + 1].first);
    out.all.emplace_back(a, b);
    ++i;
  }
  const std::size_t most = std::min(first.size(), second.size());
  if (2 * out.all.size() >= most) return out;
  out = {{}, false};
  for (std::size_t i = 0; i < most; ++i) out.all.emplace_back(&first[i], &second[i]);
  return out;
}

std::optional<Comparison> compare(const std::vector<Round>& first, const std::vector<Round>& second) {
  Pairs pairs = pairs_of(first, second);
  if (pairs.all.size() > most_pairs) pairs.all.resize(most_pairs);
  Comparison out;
  out.setting = first.front().setting;
  out.rounds = pairs.all.size();
  out.in_turns = pairs.in_turns;
  std::vector<double> logs;
  for (const auto& [a, b] : pairs.all) {
    logs.push_back(std::log(b->samples_per_s / a->samples_per_s));
    if (!a->hash.empty() && !b->hash.empty() && a->hash != b->hash) out.same_results = false;
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

ResultComparison compare_results(const std::string& first, const std::string& second) {
  const std::vector<Round> all_first = rounds_of(first), all_second = rounds_of(second);
  ResultComparison out;
  std::vector<Setting> seen;
  for (const Round& round : all_first) {
    if (std::ranges::find(seen, round.setting) != seen.end()) continue;
    seen.push_back(round.setting);
    const std::vector<Round> one = of_setting(all_first, round.setting), other = of_setting(all_second, round.setting);
    if (other.empty()) continue;
    if (const std::optional<Comparison> found = compare(one, other))
      out.comparisons.push_back(*found);
    else
      out.too_few.emplace_back(round.setting, std::min(one.size(), other.size()));
  }
  if (!out.comparisons.empty()) return out;
  if (out.too_few.empty())
    throw UsageError("--compare: the two files have no number of threads, depth and block bytes in common");
  throw UsageError(
      fmt::format("--compare: {} rounds of each are too few to say anything: at least 8 are needed "
                  "(--rounds, or --append)",
                  out.too_few.front().second));
}

std::string compare_text(const ResultComparison& compared) {
  std::string out;
  for (const Comparison& c : compared.comparisons) {
    out += fmt::format("{}: ", setting_text(c.setting));
    out += c.differs() ? "the second is " + faster_or_slower(c.ratio.middle)
                       : "no difference: the second is " + faster_or_slower(c.ratio.middle);
    out += fmt::format(", between {} and {} ({:.0f} % sure, {} rounds of each)\n", faster_or_slower(c.ratio.low),
                       faster_or_slower(c.ratio.high), 100 * compare_confidence, c.rounds);
    if (!c.in_turns)
      out += "  the rounds were not taken in turns: whatever else changed between the two counts as a difference\n";
    if (!c.same_results) out += "  their hashes differ: the two do not deliver the same\n";
  }
  for (const auto& [setting, rounds] : compared.too_few)
    out += fmt::format("{}: {} of each are too few to say anything\n", setting_text(setting), counted(rounds, "round"));
  return out;
}

Json compare_json(const ResultComparison& compared) {
  Json out = Json::array();
  for (const Comparison& c : compared.comparisons)
    out.push_back({{"threads", c.setting.threads},
                   {"depth", c.setting.depth},
                   {"block_bytes", c.setting.block_bytes},
                   {"tune", c.setting.tune},
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
