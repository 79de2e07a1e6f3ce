// SPDX-License-Identifier: Apache-2.0
// The table, and the raw numbers after it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace penstock::gpu_bench {

enum class Gate {
  none,      // told only
  at_least,  // the ratio
  at_most,
  must_miss_at_least,  // a negative control: it has to be below the gate, or the gate shows nothing
};

struct Row {
  std::string name = {};
  double ours = 0, against = 0;
  std::optional<double> ratio = {};  // none: ours / against
  std::string unit = {};
  Gate gate = Gate::none;
  double bound = 0;
  bool of_speed = true;  // not judged in a quick run
  bool ok() const;
};

class Results {
 public:
  explicit Results(bool quick) : quick_(quick) {}
  void begin(int step, const std::string& title);
  // Prints it.
  void add(Row row);
  // What could not be measured: a gate that was missed.
  void failed(const std::string& name, const std::string& why);
  void note(const std::string& text);
  nlohmann::ordered_json& raw() { return raw_; }

  int ok() const { return ok_; }
  int missed() const { return missed_; }
  // @throws std::runtime_error.
  void write(const std::filesystem::path& folder) const;

  double peak_pinned = 0;  // bytes a second from the host to the GPU; found by the transfers, used by all others

 private:
  bool quick_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array(), raw_;
  int step_ = 0, ok_ = 0, missed_ = 0;
};

}  // namespace penstock::gpu_bench
