// What a CSV file says of slides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// One value for each slide that is listed; of the others, nothing that means something.
struct SlideColumn {
  Field field;
  std::vector<std::int64_t> whole;  ///< of a field of whole numbers
  std::vector<float> numbers;       ///< of one of others
};

struct SlideTable {
  std::vector<SlideColumn> columns;
  std::vector<std::string> groups;  ///< of the slides, where `Slides::group` is given
  std::vector<double> mpp;          ///< of the slides, where `Slides::mpp_column` is given; 0: the line says none
  std::vector<bool> listed;         ///< which slides have a line
  std::size_t other_lines = 0;      ///< that name no slide
  std::string elsewhere;            ///< where lines say the slides lie, and they do not; empty: they say nothing else
  std::optional<std::string> guessed_column;  ///< that slides are named by, where others might be meant
};

/// Reads `options.labels`. `paths` and `names` are those of the slides.
/// @throws as the constructor of SlideSource, but for slides that are not listed.
SlideTable read_slide_table(const Slides& options, std::span<const std::string> paths,
                            std::span<const std::string> names);

}  // namespace penstock::slide
