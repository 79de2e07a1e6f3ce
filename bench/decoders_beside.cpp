// SPDX-License-Identifier: Apache-2.0
#include "decoders_beside.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "child.hpp"

namespace penstock::bench {

void note_decoders_beside(Row& row, const Settings& settings, const std::string& job,
                          const std::vector<std::vector<std::byte>>& files, const std::string& suffix) {
  if (settings.python.empty()) {
    row.notes.push_back("--python PYTHON measures Pillow and OpenCV beside it, those that it has");
    return;
  }
  const std::filesystem::path folder = settings.data / "decoders" / row.spec.name;
  std::filesystem::remove_all(folder);  // of a run that failed
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::ofstream file(folder / fmt::format("{:03}{}", i, suffix), std::ios::binary);
    file.write(reinterpret_cast<const char*>(files[i].data()), static_cast<std::streamsize>(files[i].size()));
  }
  std::istringstream lines(run_program({settings.python, PENSTOCK_BENCH_DECODERS, job, folder.string()}));
  for (std::string line; std::getline(lines, line);) row.notes.push_back(line);
  std::filesystem::remove_all(folder);
}

}  // namespace penstock::bench
