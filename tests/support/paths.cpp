// SPDX-License-Identifier: Apache-2.0
#include "support/paths.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

std::string penstock_test::path_of(const std::string& name) {
  std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe");
  file += ".paths";
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
  throw std::runtime_error(file.string() + " has no line " + name + "=");
}
