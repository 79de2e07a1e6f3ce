// SPDX-License-Identifier: Apache-2.0
// What two contents differ in, in a line: whole ones are too long to be printed.
#pragma once

#include <cstddef>
#include <map>
#include <sstream>
#include <string>

namespace penstock_test {

// Names with their bytes. Empty where both are the same.
inline std::string difference(const std::map<std::string, std::string>& found,
                              const std::map<std::string, std::string>& expected) {
  for (const auto& [name, bytes] : expected) {
    const auto at = found.find(name);
    if (at == found.end()) return name + " is missing";
    if (at->second != bytes)
      return name + " has other bytes: " + std::to_string(at->second.size()) + ", expected " +
             std::to_string(bytes.size());
  }
  for (const auto& [name, bytes] : found)
    if (!expected.contains(name)) return name + " should not be there";
  return {};
}

// Texts, by lines. Empty where both are the same.
inline std::string difference(const std::string& found, const std::string& expected) {
  if (found == expected) return {};
  std::istringstream in(found), should(expected);
  std::string line, wanted;
  std::size_t number = 0;
  do {
    ++number;
    line = wanted = "nothing";
    std::getline(in, line);
    std::getline(should, wanted);
  } while (line == wanted && in && should);
  return "line " + std::to_string(number) + " is " + line + ", expected " + wanted;
}

}  // namespace penstock_test
