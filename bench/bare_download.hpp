// SPDX-License-Identifier: Apache-2.0
// Files downloaded in ranges by libcurl alone, as a good engineer writes it by hand. Rows about servers are compared
// with this loop.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness.hpp"

namespace penstock::bench {

class BareDownload {
 public:
  struct File {
    std::string url;
    std::uint64_t bytes;
  };

  // Each of `connections` connections has memory for a range, which is used again for the next range.
  BareDownload(std::vector<File> files, std::size_t range_bytes, unsigned connections);
  BareDownload(const BareDownload&) = delete;
  BareDownload& operator=(const BareDownload&) = delete;
  ~BareDownload();

  // Downloads all ranges of all files once, in order, on the calling thread. Connections stay open for the next call.
  // The value is in seconds. `batches`: if it is not empty, each range is copied there after it has arrived, as a loop
  // copies records into its batches; what does not fit begins at the front again. @throws std::runtime_error if a range
  // does not arrive whole.
  Timing run(std::span<std::byte> batches = {});

 private:
  struct Range {
    std::size_t file;
    std::uint64_t offset;
    std::size_t bytes;
  };
  struct Slot {
    CURL* handle = nullptr;
    std::unique_ptr<std::byte[]> memory;
    Range range{};
    std::size_t got = 0;
  };
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* slot) noexcept;
  bool begin_next(Slot& slot);
  void require_whole(const Slot& slot, CURLcode result) const;

  std::vector<File> files_;
  std::vector<Range> ranges_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  CURLM* multi_;
};

}  // namespace penstock::bench
