// SPDX-License-Identifier: Apache-2.0
#include "remote/stream_copy.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

TEST_CASE("a streamed copy has all bytes and no others wherever it begins and ends") {
  constexpr std::size_t margin = 128, most = 70'000;
  constexpr std::byte untouched{0x5a};
  std::vector<std::byte> from(most + margin), expected, out;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 2654435761u >> 11);
  for (const std::size_t bytes : {0, 1, 63, 1023, 1024, 1025, 1087, 1088, 4096, 16'383, 70'000})
    for (std::size_t to = 0; to < 66; ++to)
      for (const std::size_t first : {0, 1, 15, 16, 63}) {
        expected.assign(most + 2 * margin, untouched);
        out = expected;
        for (std::size_t i = 0; i < bytes; ++i) expected[to + i] = from[first + i];
        penstock::remote::stream_copy(out.data() + to, from.data() + first, bytes);
        if (out != expected)
          FAIL(std::to_string(bytes) + " bytes from " + std::to_string(first) + " to " + std::to_string(to));
      }
  SUCCEED("compared");
}

}  // namespace PENSTOCK_TEST_FILE
