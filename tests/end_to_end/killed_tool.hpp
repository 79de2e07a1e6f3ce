// SPDX-License-Identifier: Apache-2.0
// A command of `penstock` that writes an LMDB store, is killed at any moment, and runs again until it is done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "difference.hpp"
#include "kills.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

namespace penstock_test {

// The words of the command that writes to `store`.
using ToolCommand =
    std::function<std::vector<std::string>(const std::string& store, std::uint64_t variant, std::uint64_t threads)>;

// True once the process has opened the store.
inline std::function<bool(pid_t)> has_opened(const std::string& store) {
  return [data = store + "/data.mdb"](pid_t process) {
    return file_text("/proc/" + std::to_string(process) + "/maps").find(data) != std::string::npos;
  };
}

inline bool has_records(const std::string& store, std::uint64_t count) {
  try {
    return penstock::LmdbSource(penstock::Lmdb{.path = store}).size() == count;
  } catch (const penstock::Error&) {
    return false;
  }
}

// Both variants write `count` records.
inline void kill_tool(const std::string& what, const TempFolder& folder, std::uint64_t count,
                      const ToolCommand& command) {
  Kills kills(what, {});

  Pairs expected[2];
  for (std::uint64_t variant = 0; variant < 2; ++variant) {
    const std::string whole = folder / ("whole" + std::to_string(variant));
    Child child(command(whole, variant, 1), {}, folder / "output");
    child.watch("begun", has_opened(whole));
    kills.measure(child);
    expected[variant] = RawLmdb{whole}.read();
    REQUIRE(expected[variant].size() >= count);
  }

  const std::string store = folder / "killed";
  for (std::uint64_t run = 0; !kills.enough(); ++run) {
    std::filesystem::remove_all(store);
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child(command(store, run % 2, 1 + kills.random()() % 4), {}, folder / "output");
      child.watch("begun", has_opened(store));
      finished = !kills.strike(child, died);
      if (finished) continue;
      ++died;
      if (child.told("begun") != 0 && has_records(store, count)) kills.had_finished();
    }
    INFO("after " << died << " kills, variant " << run % 2);
    REQUIRE(difference(RawLmdb{store}.read(), expected[run % 2]) == "");
    kills.run_completed();
  }
  kills.check();
}

}  // namespace penstock_test
