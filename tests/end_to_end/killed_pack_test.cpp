// `penstock pack`, killed at any moment and run again until it is done.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "core/help.hpp"
#include "difference.hpp"
#include "kills.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

constexpr unsigned image_count = 3000;

// The tool looks at no byte of what it packs.
void write_files(const TempFolder& folder) {
  for (unsigned i = 0; i < image_count; ++i) {
    std::string bytes;
    for (std::uint64_t at = 0, end = 20 + help::mix(i) % 300; at < end; ++at) {
      const std::uint64_t eight = help::mix(i * 1000 + at);
      bytes.append(reinterpret_cast<const char*>(&eight), sizeof eight);
    }
    folder.write("images/class_" + std::to_string(i % 4) + "/" + decimal_key(i) + ".jpg", bytes);
  }
}

std::vector<std::string> pack(const TempFolder& folder, const std::string& store, std::uint64_t variant,
                              std::uint64_t threads) {
  std::vector<std::string> words{PENSTOCK_TOOL_PATH, "pack",      folder / "images",      "--out", store,
                                 "--quiet",          "--threads", std::to_string(threads)};
  if (variant == 1) words.insert(words.end(), {"--lsun", "--no-sync"});
  return words;
}

// True once the process has opened the store.
std::function<bool(pid_t)> has_opened(const std::string& store) {
  return [data = store + "/data.mdb"](pid_t process) {
    return file_text("/proc/" + std::to_string(process) + "/maps").find(data) != std::string::npos;
  };
}

bool is_finished(const std::string& store) {
  try {
    return penstock::LmdbSource(penstock::Lmdb{.path = store}).size() == image_count;
  } catch (const penstock::Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a pack that is killed again and again ends with the same keys and values") {
  const TempFolder folder;
  write_files(folder);
  Kills kills("tool: penstock pack, records and bare values", {});

  Pairs expected[2];
  for (std::uint64_t variant = 0; variant < 2; ++variant) {
    const std::string whole = folder / ("whole" + std::to_string(variant));
    Child child(pack(folder, whole, variant, 1), {}, folder / "output");
    child.watch("begun", has_opened(whole));
    kills.measure(child);
    expected[variant] = RawLmdb{whole}.read();
    REQUIRE(expected[variant].size() >= image_count);
  }

  const std::string store = folder / "killed";
  for (std::uint64_t run = 0; !kills.enough(); ++run) {
    std::filesystem::remove_all(store);
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child(pack(folder, store, run % 2, 1 + kills.random()() % 4), {}, folder / "output");
      child.watch("begun", has_opened(store));
      finished = !kills.strike(child, died);
      if (finished) continue;
      ++died;
      if (child.told("begun") != 0 && is_finished(store)) kills.had_finished();
    }
    INFO("after " << died << " kills, variant " << run % 2);
    REQUIRE(difference(RawLmdb{store}.read(), expected[run % 2]) == "");
    kills.run_completed();
  }
  kills.check();
}
