// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include <sys/utsname.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace penstock::bench {

namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

#ifdef __clang__
constexpr auto compiler = __VERSION__;
#else
constexpr auto compiler = "g++ " __VERSION__;
#endif

// Returns a number with about four significant digits, without an exponent.
std::string number(double value) {
  const double size = value < 0 ? -value : value;
  const int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, digits);
}

std::string goal_text(const RowSpec& spec) {
  return fmt::format("{} {}{}", spec.better == Better::higher ? ">=" : "<=", number(spec.goal),
                     spec.judged == Judged::ours ? " " + spec.unit : "");
}

}  // namespace

std::string machine_line() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{}, {} x {}, {} {}, {}, {:%Y-%m-%d %H:%M} UTC", name.nodename,
                     std::thread::hardware_concurrency(), cpu_name(), name.sysname, name.release, compiler,
                     fmt::gmtime(std::chrono::system_clock::now()));
}

void print_header() {
  fmt::print("{:<28}{:>10}{:>10} {:<10}{:>8}  {:<20}{:<6}{:<16}{:>6}\n", "row", "ours", "limit", "unit", "ratio",
             "goal", "", "spread", "rounds");
}

void print_row(const Row& row, const Settings& settings) {
  const std::string verdict = settings.quick ? "-" : row.reached() ? "ok" : "MISS";
  const std::string spread = row.rounds > 1 ? number(row.low) + " - " + number(row.high) : "";
  fmt::print("{:<28}{:>10}{:>10} {:<10}{:>8}  {:<20}{:<6}{:<16}{:>6}\n", row.spec.name, number(row.ours),
             number(row.limit), row.spec.unit, number(row.ratio), goal_text(row.spec), verdict, spread, row.rounds);
  fmt::print("    {}\n", row.spec.what);
  if (row.cpu_ratio > 0) fmt::print("    CPU time, ours / limit: {}\n", number(row.cpu_ratio));
  for (const std::string& note : row.notes) fmt::print("    {}\n", note);
  if (!row.quiet) fmt::print("    NOISY: other load in most rounds; measure again on a quiet machine\n");
  std::fflush(stdout);
}

void write_json(const std::filesystem::path& file, std::span<const Row> rows, const Settings& settings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const std::string machine = machine_line();
  for (const Row& row : rows) {
    nlohmann::ordered_json object;
    object["name"] = row.spec.name;
    object["ours"] = row.ours;
    object["limit"] = row.limit;
    object["ratio"] = row.ratio;
    object["goal"] = row.spec.goal;
    object["unit"] = row.spec.unit;
    object["rounds"] = row.rounds;
    object["what"] = row.spec.what;
    object["better"] = row.spec.better == Better::higher ? "higher" : "lower";
    object["judged"] = row.spec.judged == Judged::ratio ? "ratio" : "ours";
    object["ok"] = settings.quick ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row.reached());
    object["low"] = row.low;
    object["high"] = row.high;
    object["cpu_ratio"] = row.cpu_ratio;
    object["dropped"] = row.dropped;
    object["quiet"] = row.quiet;
    object["threads"] = settings.threads;
    object["notes"] = row.notes;
    object["machine"] = machine;
    all.push_back(std::move(object));
  }
  std::ofstream out(file);
  out << all.dump(2) << '\n';
  out.close();
  if (!out) throw std::runtime_error("can't write " + file.string());
}

}  // namespace penstock::bench
