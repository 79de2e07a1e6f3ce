// SPDX-License-Identifier: Apache-2.0
// The stage of `penstock pack` that finds files that are not images, and images that the library can't decode.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <penstock/extend/transform.hpp>
#include <penstock/sources/files.hpp>

namespace penstock::cli {

/// Files of kinds that the library has no decoder for.
struct UndecodedImages {
  std::map<std::string, std::uint64_t> kinds;
  std::vector<std::uint64_t> some;  ///< the lowest indices of these files, at most 3, in order

  void add(const std::string& kind, std::uint64_t index);
};

struct OddImages {
  std::uint64_t empty = 0;     ///< files of 0 bytes
  std::uint64_t no_image = 0;  ///< other files that don't begin like an image
  std::uint64_t first = 0;     ///< the lowest index of `empty` and `no_image` files, if there are any
  /// For each kind of image that the library has no decoder for: how many files begin like such an image.
  std::map<std::string, std::uint64_t> undecoded;
  UndecodedImages misnamed;  ///< the `undecoded` files whose names don't show their kind
};

/// Finds images whose names show that the library has no decoder for them. Reads no file.
UndecodedImages undecoded_by_name(const FilesSource& files);
/// Says how many files of such kinds there are, and what to do: "8 files are ...". Returns an empty text if there are
/// no such files.
std::string undecoded_text(const UndecodedImages& images, const FilesSource& files);

/// Checks the first bytes of field "image" and changes nothing. Copies share their counts. Any thread.
class LookAtImages {
 public:
  explicit LookAtImages(const FilesSource& files);
  void operator()(Sample& sample, Context& context) const;
  std::string name() const { return "look_at_images"; }
  OddImages found() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace penstock::cli
