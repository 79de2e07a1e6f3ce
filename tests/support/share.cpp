// SPDX-License-Identifier: Apache-2.0
#include "support/share.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace penstock_test {

namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

bool all_faults() {
  const std::string faults = variable("PENSTOCK_FAULTS");
  if (!faults.empty() && faults != "each" && faults != "all")
    throw std::invalid_argument("PENSTOCK_FAULTS is \"" + faults + "\"; it can be each or all");
  return faults == "all";
}

Share::Share(std::string list)
    : draw_(variable("PENSTOCK_DRAW")),
      seed_(hash(draw_ + " " + list)),
      whole_(all_faults() || !variable("PENSTOCK_FAULTS").empty()) {}

bool Share::has_next() {
  const std::uint64_t number = next_++;
  return whole_ || number % one_of == mixed(seed_ + number / one_of) % one_of;
}

std::string Share::words() const {
  if (whole_) return "every one";
  return "one in " + std::to_string(one_of) + " of them, as PENSTOCK_DRAW=" + draw_ +
         " draws; all with PENSTOCK_FAULTS=each";
}

}  // namespace penstock_test
