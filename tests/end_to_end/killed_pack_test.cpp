// SPDX-License-Identifier: Apache-2.0
// `penstock pack`, killed at any moment and run again until it is done.
#include <cstdint>
#include <string>
#include <vector>

#include "core/help.hpp"
#include "killed_tool.hpp"
#include "support/paths.hpp"

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

}  // namespace

TEST_CASE("a pack that is killed again and again ends with the same keys and values") {
  const TempFolder folder;
  write_files(folder);
  kill_tool("tool: penstock pack, records and bare values", folder, image_count,
            [&](const std::string& store, std::uint64_t variant, std::uint64_t threads) {
              std::vector<std::string> words{path_of("tool"), "pack",    folder / "images", "--out",
                                             store,           "--quiet", "--threads",       std::to_string(threads)};
              if (variant == 1) words.insert(words.end(), {"--lsun", "--no-sync"});
              return words;
            });
}
