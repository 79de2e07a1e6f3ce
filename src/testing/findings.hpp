// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Collects the findings of a suite. Any thread may use it.
class Findings {
 public:
  /// Counts a check of `contract`. If `kept` is false, adds a finding with `evidence()`. Returns `kept`.
  template <class Evidence>
  bool check(bool kept, std::string_view contract, const Evidence& evidence) {
    if (kept) {
      const std::lock_guard lock(mutex_);
      ++checks_;
    } else {
      add(contract, evidence());
    }
    return kept;
  }
  void add(std::string_view contract, std::string evidence);

  /// Checks that `act()` throws nothing. Returns whether it threw nothing.
  template <class Act>
  bool runs(std::string_view contract, std::string_view what, const Act& act) {
    std::optional<std::string> said;  // what was thrown; none: nothing was
    try {
      act();
    } catch (const std::exception& error) {
      said = error.what();
    } catch (...) {
      said = "something that is no std::exception";
    }
    return check(!said, contract, [&] { return std::string(what) + " threw: " + *said; });
  }

  /// Checks that `act()` throws an Error whose text is one line. Returns the Error, or nothing if the check failed.
  template <class Act>
  std::optional<Error> refused(std::string_view contract, std::string_view what, const Act& act) {
    std::string said = "was accepted";
    std::optional<Error> thrown;
    try {
      act();
    } catch (const Error& error) {
      thrown = error;
    } catch (const std::exception& error) {
      said = std::string("threw what is no penstock::Error: ") + error.what();
    } catch (...) {
      said = "threw what is no std::exception";
    }
    if (thrown && std::string_view(thrown->what()).find('\n') != std::string_view::npos) {
      said = "threw an Error of several lines: " + std::string(thrown->what());
      thrown.reset();
    }
    check(thrown.has_value(), contract, [&] { return std::string(what) + " " + said; });
    return thrown;
  }

  Report report() const;

 private:
  struct OfContract {
    std::vector<std::string> evidence;
    std::uint64_t count = 0;
  };
  mutable std::mutex mutex_;
  std::vector<std::string> order_;  // contracts, in the order in which they were first broken
  std::map<std::string, OfContract, std::less<>> broken_;
  std::uint64_t checks_ = 0;
};

}  // namespace penstock::testing
