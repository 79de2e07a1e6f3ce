// SPDX-License-Identifier: Apache-2.0
// libdeflate's compressors, kept from one image to the next: they have up to 9 MB of memory.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <libdeflate.h>

namespace penstock::png {

class Compressors {
 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const noexcept { libdeflate_free_compressor(compressor); }
  };
  struct GiveBack {
    Compressors* to;
    void operator()(libdeflate_compressor* compressor) const noexcept { to->give_back(compressor); }
  };

 public:
  // `level`: libdeflate's, 0 to 12.
  explicit Compressors(int level) : level_(level) {}
  Compressors(const Compressors&) = delete;
  Compressors& operator=(const Compressors&) = delete;

  // Returns a compressor that is not in use, or makes one. It must end before this object. Any thread.
  // @throws Error(out_of_memory).
  using Compressor = std::unique_ptr<libdeflate_compressor, GiveBack>;
  Compressor take();

 private:
  void give_back(libdeflate_compressor* compressor) noexcept;

  const int level_;
  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<libdeflate_compressor, Free>> unused_;  // with room for all that were made
};

}  // namespace penstock::png
