// The stage of `penstock pack --seekable`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/extend/transform.hpp>

namespace penstock::cli {

struct RewriteCounts {
  std::uint64_t rewritten = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;  // of those
  std::uint64_t not_jpeg = 0;                       // stored as they are
  std::uint64_t refused = 0;                        // JPEGs that can't be rewritten, stored as they are as well
  std::uint64_t first_refused = 0;                  // the least index of those, if there are any
  std::string refusal;                              // and why
};

/// Makes JPEGs in field "image" seekable, and leaves what is none, or can't be rewritten, as it is. Copies count
/// together. Any thread.
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
