// SPDX-License-Identifier: Apache-2.0
// The stage of `penstock pack --seekable`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/extend/transform.hpp>

namespace penstock::cli {

struct RewriteCounts {
  std::uint64_t rewritten = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;  // sizes of rewritten files
  std::uint64_t not_jpeg = 0;                       // files that are not JPEGs, and are stored unchanged
  std::uint64_t refused = 0;                        // JPEGs that can't be rewritten, and are stored unchanged
  std::uint64_t first_refused = 0;                  // the lowest index of the refused JPEGs, if there are any
  std::string refusal;                              // why that JPEG was refused
};

/// Makes JPEGs in field "image" seekable. Leaves other files, and JPEGs that can't be rewritten, unchanged. Copies
/// share their counts. Any thread.
class RewriteJpegs {
 public:
  RewriteJpegs();
  void operator()(Sample& sample, Context& context) const;
  std::string name() const { return "seekable_jpeg(image)"; }
  RewriteCounts counts() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace penstock::cli
