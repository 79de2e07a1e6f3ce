// The stage of `penstock pack` that finds what is no image.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/extend/transform.hpp>

namespace penstock::cli {

struct OddImages {
  std::uint64_t empty = 0;     ///< files without a byte
  std::uint64_t no_image = 0;  ///< others that begin like no image
  std::uint64_t first = 0;     ///< the least index of both, if there are any
};

/// Looks at the first bytes of field "image" and changes nothing. Copies count together. Any thread.
class LookAtImages {
 public:
  LookAtImages();
  void operator()(Sample& sample, Context& context) const;
  std::string name() const { return "look_at_images"; }
  OddImages found() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace penstock::cli
