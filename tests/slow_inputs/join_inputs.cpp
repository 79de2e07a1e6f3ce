// SPDX-License-Identifier: Apache-2.0
// Joins of joins: each has names, records and identities of its parts in it.
#include <cstdint>
#include <string>

#include <penstock/penstock.hpp>

#include "core/help.hpp"
#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

void keep_number(const TempFolder& folder, std::size_t n) { folder.write("n", std::to_string(n)); }

std::size_t number_in(const TempFolder& folder) { return std::stoul(content_of(folder, "n")); }

// A record in the innermost one, and one more in each that is around it.
AnySource nested(std::size_t depth, bool first_fails = false) {
  const help::Records innermost{.count = 1};
  if (first_fails) innermost.shared->faults[0] = help::Fault::corrupt;
  AnySource all = share(innermost);
  for (std::size_t i = 0; i < depth; ++i) all = concat({all, share(help::Records{.count = 1})});
  return all;
}

void describe(const AnySource& source) { (void)(from(source) | batch(1)).plan(); }

}  // namespace

TEST_CASE("joins of joins take time and memory as they are many") {
  check_inputs("join", {.seconds = 0.5, .megabytes = 64},
               {
                   {.name = "concat nested n deep",
                    .size = 300,
                    .make = keep_number,
                    .use = [](const TempFolder& f) { describe(nested(number_in(f))); }},
                   {.name = "a record that fails in concat nested n deep",
                    .size = 300,
                    .make = keep_number,
                    .use = [](const TempFolder& f) { (void)from(nested(number_in(f), true)).at(0); },
                    .refused = Errc::corrupt},
                   {.name = "x = concat(x, x), n times",
                    .size = 6,
                    .make = keep_number,
                    .use =
                        [](const TempFolder& f) {
                          AnySource x = share(help::Records{.count = 1});
                          for (std::size_t i = number_in(f); i != 0; --i) x = concat({x, x});
                          describe(x);
                        }},
               });
}
