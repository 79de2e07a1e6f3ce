// SPDX-License-Identifier: Apache-2.0
// Finds the slide that a line of a table belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/tables/slide_lines.hpp"

namespace penstock::slide {

/// Finds slides by their names in a table. Takes time proportional to the bytes of paths and cells.
///
/// - A slide's whole name, with or without "./", is that slide, even if other slides' paths end like it.
/// - A name without a folder is that of a slide's file, with or without its extension. It may have a different
///   extension, as after a conversion, if no cell has the slide's own.
/// - A relative path is the end of a slide's path.
/// - An absolute path of an existing file is that file, or a copy with the same number of bytes.
/// - For a copy, and for a file of another machine, the slide has the longest matching end, with at least one folder.
///   If all absolute paths of the column are in one folder, only the file's name must match.
class SlideFinder {
 public:
  static constexpr std::size_t no_match = common::no_match, several = common::several;

  explicit SlideFinder(std::span<const std::string> paths);

  /// `exact`: the number of cells that name a slide's file with its extension.
  common::FoundSlides find(std::span<const std::string> cells) const;

 private:
  using Ends = std::unordered_map<std::string, std::size_t>;

  /// How well a cell names a file: with the file's own extension, none, or a different one.
  enum class Ending : std::uint8_t { own, none, another };
  struct Match {
    std::size_t slide = no_match;
    Ending ending = Ending::none;
  };
  Match find_end(const std::string& end) const;
  Match find_absolute(std::string_view path) const;

  Ends names_;                                                            // whole names, with which records' keys begin
  Ends with_ending_, without_;                                            // the last parts of slides' paths
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> files_;  // slides by device and inode of the file
  std::vector<std::uint64_t> bytes_;                                      // bytes of each slide's file
};

}  // namespace penstock::slide
