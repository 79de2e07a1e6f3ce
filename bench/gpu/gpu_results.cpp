// SPDX-License-Identifier: Apache-2.0
#include "gpu_results.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace penstock::gpu_bench {

namespace {

std::string gate_text(const Row& row) {
  switch (row.gate) {
    case Gate::none:
      return "-";
    case Gate::at_least:
      return fmt::format(">= {:g}", row.bound);
    case Gate::at_most:
      return fmt::format("<= {:g}", row.bound);
    case Gate::must_miss_at_least:
      return fmt::format("not >= {:g}", row.bound);
  }
  return "?";
}

}  // namespace

// A value that is not a number misses every gate, and the gates of negative controls too.
bool Row::ok() const {
  const double judged = ratio.value_or(ours / against);
  switch (gate) {
    case Gate::none:
      return true;
    case Gate::at_least:
      return judged >= bound;
    case Gate::at_most:
      return judged <= bound;
    case Gate::must_miss_at_least:
      return judged < bound;
  }
  return false;
}

void Results::begin(int step, const std::string& title) {
  step_ = step;
  fmt::print("\n{}. {}\n{:<58}{:>12}{:>12} {:<8}{:>9}  {:<14}\n", step, title, "row", "ours", "against", "unit",
             "ratio", "gate");
  std::fflush(stdout);
}

void Results::add(Row row) {
  const double ratio = row.ratio.value_or(row.ours / row.against);
  const bool judged = row.gate != Gate::none && !(quick_ && row.of_speed);
  fmt::print("{:<58}{:>12.4g}{:>12.4g} {:<8}{:>9.4g}  {:<14}{}\n", row.name, row.ours, row.against, row.unit, ratio,
             gate_text(row),
             !judged    ? ""
             : row.ok() ? "ok"
                        : "MISS");
  std::fflush(stdout);
  if (judged) ++(row.ok() ? ok_ : missed_);
  nlohmann::ordered_json object;
  object["step"] = step_;
  object["row"] = row.name;
  object["ours"] = row.ours;
  object["against"] = row.against;
  object["ratio"] = ratio;
  object["unit"] = row.unit;
  object["gate"] = gate_text(row);
  object["ok"] = judged ? nlohmann::ordered_json(row.ok()) : nlohmann::ordered_json(nullptr);
  rows_.push_back(std::move(object));
}

void Results::failed(const std::string& name, const std::string& why) {
  fmt::print("{:<58}MISS: {}\n", name, why);
  std::fflush(stdout);
  ++missed_;
  nlohmann::ordered_json object;
  object["step"] = step_;
  object["row"] = name;
  object["ok"] = false;
  object["error"] = why;
  rows_.push_back(std::move(object));
}

void Results::note(const std::string& text) {
  fmt::print("    {}\n", text);
  std::fflush(stdout);
}

void Results::write(const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  nlohmann::ordered_json all;
  all["rows"] = rows_;
  all["raw"] = raw_;
  all["ok"] = ok_;
  all["missed"] = missed_;
  const std::filesystem::path file = folder / "gpu.json";
  std::ofstream out(file);
  out << all.dump(1) << '\n';
  out.close();
  if (!out) throw std::runtime_error("can't write " + file.string());
}

}  // namespace penstock::gpu_bench
