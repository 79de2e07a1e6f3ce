// Which slide a line of a table is of.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::slide {

/// A cell without spaces and tabs around it.
std::string_view trimmed(std::string_view text);

/// Finds slides by what a table calls them. Takes time in proportion to the bytes of paths and cells.
///
/// A name without a folder is that of a slide's file, with its ending or without. A relative path is the end of a
/// slide's. Of an absolute path, the slide has the longest end, a folder at least; or, where all absolute paths of the
/// column lie in one folder, which may be one of another machine, the name of the file alone.
class SlideFinder {
 public:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  static constexpr std::size_t several = static_cast<std::size_t>(-2);  ///< any of which it could be

  explicit SlideFinder(std::span<const std::string> paths);

  struct Found {
    std::vector<std::size_t> slides;  ///< of each cell
    std::string elsewhere;            ///< the folder of paths that were taken by the names of files alone; else empty
  };
  Found find(std::span<const std::string> cells) const;

 private:
  using Ends = std::unordered_map<std::string, std::size_t>;

  std::size_t find_end(const std::string& end) const;
  std::size_t find_absolute(std::string_view path) const;

  Ends with_ending_, without_;  // the last parts of slides' paths
};

}  // namespace penstock::slide
