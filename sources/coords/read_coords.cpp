// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <penstock/loader.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/stages/batch.hpp>

#include "common/file_errors.hpp"
#include "common/on_threads.hpp"
#include "coords_attributes.hpp"
#include "slide_files.hpp"

namespace penstock {

namespace {

constexpr const char* dataset = "coords";

constexpr common::FileError error_in{coords::source_name};

// Returns the numbers of an attribute of the dataset. Returns no numbers if the attribute is missing, or is a text that
// is not a number, like "None".
std::vector<double> numbers_of(const Hdf5Source& source, const char* name) {
  const std::optional<Hdf5Attribute> attribute = source.attribute(dataset, name);
  if (!attribute) return {};
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&attribute->values))
    return {whole->begin(), whole->end()};
  if (const auto* real = std::get_if<std::vector<double>>(&attribute->values)) return *real;
  if (const auto* text = std::get_if<std::vector<std::string>>(&attribute->values); text && text->size() == 1) {
    double value = 0;
    const char* const end = text->front().data() + text->front().size();
    if (const auto read = std::from_chars(text->front().data(), end, value); read.ec == std::errc() && read.ptr == end)
      return {value};
  }
  return {};
}

// Returns an attribute's number. Some attributes have the same number twice, for width and height. Returns none if the
// attribute has no number, or different ones.
std::optional<double> number_of(const Hdf5Source& source, const char* name) {
  const std::vector<double> values = numbers_of(source, name);
  const auto same = [&](double one) { return one == values.front(); };
  if (values.empty() || !std::ranges::all_of(values, same)) return std::nullopt;
  return values.front();
}

void read_size(const Hdf5Source& source, SlideCoords& list) {
  const auto size = number_of(source, "patch_size"), at_level_0 = number_of(source, "patch_size_level0");
  const auto level_0 = number_of(source, "level0_magnification"), target = number_of(source, "target_magnification");
  const auto level = number_of(source, "patch_level");
  double found = 0;
  if (at_level_0) {
    found = *at_level_0;
  } else if (size && level_0 && target && *target > 0) {
    found = *size * *level_0 / *target;
  } else if (size && level) {
    found = *size * number_of(source, "custom_downsample").value_or(1);
    constexpr double most_levels = 64;
    if (!(*level >= 0 && *level < most_levels))
      throw error_in(list.file, Errc::corrupt, "`patch_level` is no level: " + std::to_string(*level));
    list.level = static_cast<std::int32_t>(*level);
  } else {
    return;
  }
  if (!(found > 0 && found < std::numeric_limits<std::int32_t>::max()))
    throw error_in(list.file, Errc::corrupt, "its places are of " + std::to_string(found) + " pixels");
  list.size = found;
}

std::int64_t pixels_said(double value) {
  const bool possible = value >= 1 && value <= std::numeric_limits<std::int32_t>::max();
  return possible ? std::llround(value) : 0;
}

// Reads the size of the slide. TRIDENT writes this size. CLAM writes the size of the places' level, and the factor
// between that level and level 0.
void read_slide_size(const Hdf5Source& source, SlideCoords& list) {
  const std::vector<double> of_level = numbers_of(source, "level_dim");
  std::vector<double> downsample = numbers_of(source, "downsample");
  const std::optional<double> level = number_of(source, "patch_level");
  if (level == 0) downsample = {1};
  const bool is_said = !downsample.empty() && std::ranges::all_of(downsample, [](double one) { return one >= 1; });
  if (level && is_said && of_level.size() == 2) {
    list.slide_width = pixels_said(of_level.front() * downsample.front());
    list.slide_height = pixels_said(of_level.back() * downsample.back());
  }
  if (list.level != 0 && is_said) list.downsample = downsample.front();
  if (const auto width = number_of(source, "level0_width")) list.slide_width = pixels_said(*width);
  if (const auto height = number_of(source, "level0_height")) list.slide_height = pixels_said(*height);
}

bool has_images(const Hdf5Source& source) {
  try {
    (void)source.attributes("imgs");
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::not_found) throw;
    return false;
  }
}

template <class T>
void take(const Batch& batch, SlideCoords& list) {
  const auto values = batch.view<const T, 2>(dataset);
  const auto whole = [&](T value) {
    if (!std::in_range<std::int32_t>(value))
      throw error_in(list.file, Errc::corrupt, "it has a place at " + std::to_string(value) + ", beyond any slide");
    return static_cast<std::int32_t>(value);
  };
  for (std::int64_t row = 0; row < values.extent(0); ++row)
    list.at.push_back({whole(values(row, 0)), whole(values(row, 1))});
}

void take(const Batch& batch, DType dtype, SlideCoords& list) {
  switch (dtype) {
    case DType::i64:
      return take<std::int64_t>(batch, list);
    case DType::i32:
      return take<std::int32_t>(batch, list);
    case DType::i16:
      return take<std::int16_t>(batch, list);
    case DType::i8:
      return take<std::int8_t>(batch, list);
    case DType::u64:
      return take<std::uint64_t>(batch, list);
    case DType::u32:
      return take<std::uint32_t>(batch, list);
    case DType::u16:
      return take<std::uint16_t>(batch, list);
    default:
      return take<std::uint8_t>(batch, list);
  }
}

bool holds_whole_numbers(DType dtype) {
  constexpr std::array whole{DType::i64, DType::i32, DType::i16, DType::i8,
                             DType::u64, DType::u32, DType::u16, DType::u8};
  return std::ranges::find(whole, dtype) != whole.end();
}

SlideCoords read_file(const coords::SlideFeatureFile& file) {
  SlideCoords list{.slide = file.slide, .file = file.path};
  // The source reads a list of up to 1 GiB whole, and keeps it in memory. Otherwise it would read the list chunk by
  // chunk, and chunks often have only one row.
  constexpr std::size_t keep_bytes = std::size_t{1} << 30;
  const Hdf5Source source({.path = file.path, .fields = {{.dataset = dataset}}, .max_kept_bytes = keep_bytes});
  const Field field = source.schema()[0];
  if (has_images(source))
    throw error_in(file.path, Errc::unsupported,
                   "it has images in it: of CLAM's older files, whose places count pixels of the level of the images");
  read_size(source, list);
  read_slide_size(source, list);
  // TRIDENT's lists without places have a different shape, which is not checked.
  if (source.size() == 0) return list;
  if (!holds_whole_numbers(field.dtype) || field.shape != Shape{2})
    throw error_in(file.path, Errc::unsupported,
                   "its `coords` are " + std::string(to_string(field.dtype)) + " [N]" + field.shape.to_string() +
                       ", and should be whole numbers [N, 2]");
  constexpr std::uint64_t most = std::uint64_t{1} << 27;
  if (source.size() > most)
    throw error_in(file.path, Errc::limit_exceeded,
                   "it has " + std::to_string(source.size()) + " places; 134 million of a slide can be taken");
  Loader loader(from(source) | batch(4096), {.threads = 1, .epochs = 1});
  while (const auto rows = loader.next()) take(*rows, field.dtype, list);
  return list;
}

}  // namespace

std::vector<SlideCoords> read_coords(const std::string& path) {
  const std::vector<coords::SlideFeatureFile> files =
      coords::find_slide_files(path, "patches", coords::source_name).files;
  std::vector<SlideCoords> lists(files.size());
  common::for_each_on_threads(files.size(), 0, [&](std::size_t i) { lists[i] = read_file(files[i]); });
  return lists;
}

}  // namespace penstock
