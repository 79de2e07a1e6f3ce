// Which slide a line of a table is of.
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

/// Finds slides by what a table calls them. Takes time in proportion to the bytes of paths and cells.
///
/// "./" and a slide's whole name is that slide, also where others' paths end so. A name without a folder is that of a
/// slide's file, with its ending or without; with another ending, as of a file that was converted, where no cell has
/// the slide's own. A relative path is the end of a slide's. An absolute path of a file that is there is that file, or
/// a copy of it with as many bytes. Of a copy, and of a file of another machine, the slide has the longest end, a
/// folder at least; or, where all absolute paths of the column lie in one folder, the name of the file alone.
class SlideFinder {
 public:
  static constexpr std::size_t no_match = common::no_match, several = common::several;

  explicit SlideFinder(std::span<const std::string> paths);

  /// `exact` are cells that name a slide's file with its ending.
  common::FoundSlides find(std::span<const std::string> cells) const;

 private:
  using Ends = std::unordered_map<std::string, std::size_t>;

  /// What a cell names, and how well: a file's own ending, none, another.
  enum class Ending : std::uint8_t { own, none, another };
  struct Match {
    std::size_t slide = no_match;
    Ending ending = Ending::none;
  };
  Match find_end(const std::string& end) const;
  Match find_absolute(std::string_view path) const;

  Ends names_;                                                            // whole ones, as records' keys begin with
  Ends with_ending_, without_;                                            // the last parts of slides' paths
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> files_;  // slides by device and number of the file
  std::vector<std::uint64_t> bytes_;                                      // bytes of each slide's file
};

}  // namespace penstock::slide
