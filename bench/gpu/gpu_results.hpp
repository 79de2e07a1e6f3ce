// SPDX-License-Identifier: Apache-2.0
// The results: a table for people, and the raw numbers for programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace penstock::gpu_bench {

enum class Gate {
  none,      // the row is only printed
  at_least,  // the ratio must be at least the bound
  at_most,
  must_miss_at_least,  // a negative control: the ratio must be below the bound, otherwise the gate proves nothing
};

struct Row {
  std::string name = {};
  double ours = 0, against = 0;
  std::optional<double> ratio = {};  // if there is none, the ratio is ours / against
  std::string unit = {};
  Gate gate = Gate::none;
  double bound = 0;
  bool of_speed = true;  // whether it is a speed, which a quick run does not judge
  bool ok() const;
};

class Results {
 public:
  explicit Results(bool quick) : quick_(quick) {}
  void begin(int step, const std::string& title);
  // Prints the row and keeps it.
  void add(Row row);
  // Adds a row that could not be measured, which counts as a missed gate.
  void failed(const std::string& name, const std::string& why);
  void note(const std::string& text);
  nlohmann::ordered_json& raw() { return raw_; }

  int ok() const { return ok_; }
  int missed() const { return missed_; }
  // @throws std::runtime_error.
  void write(const std::filesystem::path& folder) const;

  double peak_pinned = 0;  // bytes per second from the host to the GPU; step 2 sets it for all other steps

 private:
  bool quick_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array(), raw_;
  int step_ = 0, ok_ = 0, missed_ = 0;
};

}  // namespace penstock::gpu_bench
