// SPDX-License-Identifier: Apache-2.0
// Files of a state: 64 bytes, and the pipeline in words.
#include <cstring>
#include <string>

#include <penstock/penstock.hpp>

#include "core/help.hpp"
#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

void save_one(const TempFolder& folder) {
  Loader loader(from(help::Records{.count = 8}) | batch(4));
  loader.save(folder / "state");
}

void with_more(const TempFolder& folder, const std::string& more) {
  save_one(folder);
  folder.write("state", content_of(folder, "state") + more);
}

void load(const TempFolder& folder) { (void)load_state(folder / "state"); }

// Words of another pipeline are compared with those of this one.
void resume(const TempFolder& folder) {
  Loader loader(from(help::Records{.count = 8}) | shuffle() | batch(4));
  loader.resume(folder / "state");
}

}  // namespace

TEST_CASE("files of a state take time and memory as they are large") {
  check_inputs("state", {.seconds = 0.5, .megabytes = 64},
               {
                   // Small enough that four times as many still have their place in a cache.
                   {.name = "n bytes that are no state",
                    .size = 100'000,
                    .make = [](const TempFolder& f, std::size_t n) { f.write("state", std::string(n, 'x')); },
                    .use = load,
                    .refused = Errc::state_mismatch},
                   {.name = "n more lines of words",
                    .size = 20'000,
                    .make = [](const TempFolder& f, std::size_t n) { with_more(f, times(n, "stage\tx\n")); },
                    .use = resume,
                    .refused = Errc::state_mismatch},
                   {.name = "one line of n bytes",
                    .size = 200'000,
                    .make = [](const TempFolder& f, std::size_t n) { with_more(f, std::string(n, 'x') + "\n"); },
                    .use = resume,
                    .refused = Errc::state_mismatch},
               });
}
