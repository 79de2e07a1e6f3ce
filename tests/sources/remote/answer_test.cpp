// SPDX-License-Identifier: Apache-2.0
// The header of a server's answer, whatever the server writes there.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "remote/answer.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock::remote;

TEST_CASE("a Content-Range is a range within a size, or nothing") {
  const auto range = parse_content_range("bytes 5-9/20");
  REQUIRE(range);
  CHECK((range->first == 5 && range->last == 9 && range->size == 20));
  CHECK(parse_content_range("  BYTES 0-0/1 \r\n")->size == 1);
  CHECK_FALSE(parse_content_range("bytes 0-0/*")->size);
  CHECK_FALSE(parse_content_range("bytes */20")->first);
  CHECK(parse_content_range("bytes */20")->size == 20);
  CHECK(parse_content_range("bytes 0-18446744073709551614/18446744073709551615")->last == 18446744073709551614u);
  for (const char* wrong :
       {"", "bytes", "bytes ", "bytes 5", "bytes 5-9", "bytes 9-5/20", "bytes 5-20/20", "bytes -5-9/20", "bytes 5-9/",
        "bytes 5-/20", "bytes -9/20", "bytes 5-9/2x", "bytes +5-9/20", "bytes 5 - 9/20", "items 5-9/20",
        "bytes 0-18446744073709551616/18446744073709551617", "bytes 5-9/20/20", "bytes=5-9/20"})
    CHECK_FALSE(parse_content_range(wrong));
}

TEST_CASE("an answer's header is that of the last status, and has a limit") {
  Answer answer;
  for (const char* line : {"HTTP/1.1 100 Continue\r\n", "ETag: \"old\"\r\n", "HTTP/1.1 206 Partial Content\r\n",
                           "content-range:bytes 1-2/3\r\n", "RETRY-AFTER: 7\r\n", "Content-Encoding: GZIP\r\n",
                           "no colon\r\n", ": no name\r\n", "\r\n"})
    CHECK(answer.take(line));
  CHECK(answer.etag.empty());
  REQUIRE(answer.range);
  CHECK(answer.range->size == 3);
  CHECK(answer.retry_after == std::chrono::seconds(7));
  CHECK(answer.content_encoding == "gzip");
  CHECK(answer.take("Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n"));
  CHECK(answer.retry_after == std::chrono::seconds(7));

  Answer endless;
  std::size_t bytes = 0;
  const std::string line = "X-Line: " + std::string(1000, 'x') + "\r\n";
  while (endless.take(line)) bytes += line.size();
  CHECK(bytes <= Answer::most_bytes);
  CHECK(bytes + line.size() > Answer::most_bytes);
  // Interim answers don't begin the count again.
  CHECK_FALSE(endless.take("HTTP/1.1 100 Continue\r\n"));
}

TEST_CASE("changed headers are read without harm") {
  const std::string lines[] = {"HTTP/1.1 206 Partial Content\r\n", "Content-Range: bytes 65536-131071/656137\r\n",
                               "ETag: W/\"abc\"\r\n", "Retry-After: 120\r\n", "Content-Type: multipart/byteranges\r\n"};
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % most;
  };
  std::uint64_t ranges = 0;
  for (int run = 0; run < 50'000; ++run) {
    Answer answer;
    for (std::string line : lines) {
      for (std::uint64_t n = below(4); n != 0; --n) {
        const std::size_t at = below(line.size() + 1);
        if (below(3) == 0)
          line.erase(at, below(5));
        else if (below(2) == 0 && at < line.size())
          line[at] = static_cast<char>(below(256));
        else
          line.insert(at, std::string(below(20), static_cast<char>('0' + below(10))));
      }
      (void)answer.take(line);
    }
    if (!answer.range) continue;
    ++ranges;
    if (answer.range->first && answer.range->size) {
      REQUIRE(*answer.range->first <= *answer.range->last);
      REQUIRE(*answer.range->last < *answer.range->size);
    }
  }
  CHECK(ranges > 1000);
}

}  // namespace PENSTOCK_TEST_FILE
