#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include <penstock/loader.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/stages/batch.hpp>

#include "common/on_threads.hpp"
#include "coords_attributes.hpp"

namespace penstock {

namespace fs = std::filesystem;

namespace {

constexpr const char* dataset = "coords";

Error error_in(const std::string& file, Errc code, const std::string& why) {
  return Error(code, why).with_source(coords::source_name).with_file(file);
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed))
    if (entry->path().extension() == ".h5") files.push_back(entry->path().string());
  if (failed) throw error_in(folder.string(), Errc::io, "the folder can't be listed: " + failed.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_of(const std::string& path) {
  std::error_code failed;
  if (!fs::exists(path, failed)) throw error_in(path, Errc::not_found, "there is no such file or folder");
  if (!fs::is_directory(path, failed)) return {path};
  std::vector<std::string> files = files_in(path);
  if (const fs::path patches = fs::path(path) / "patches"; files.empty() && fs::is_directory(patches, failed))
    files = files_in(patches);
  if (files.empty())
    throw error_in(path, Errc::not_found, "the folder has no files that end in .h5, nor has its folder `patches`");
  return files;
}

std::string slide_of(const std::string& file) {
  std::string name = fs::path(file).stem().string();
  constexpr std::string_view ending = "_patches";
  if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

// A number among the dataset's attributes; none where there is none, or it is text, as Python's None is stored.
std::optional<double> number_of(const Hdf5Source& source, const char* name) {
  const std::optional<Hdf5Attribute> attribute = source.attribute(dataset, name);
  if (!attribute) return std::nullopt;
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&attribute->values); whole && whole->size() == 1)
    return static_cast<double>(whole->front());
  if (const auto* real = std::get_if<std::vector<double>>(&attribute->values); real && real->size() == 1)
    return real->front();
  return std::nullopt;
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
    found = *size;
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

SlideCoords read_file(const std::string& file) {
  SlideCoords list{.slide = slide_of(file), .file = file};
  // As a whole: chunks of one row are usual.
  constexpr std::size_t keep_bytes = std::size_t{1} << 30;
  const Hdf5Source source({.path = file, .fields = {{.dataset = dataset}}, .max_kept_bytes = keep_bytes});
  const Field field = source.schema()[0];
  const bool known = field.dtype == DType::i64 || field.dtype == DType::i32 || field.dtype == DType::u32 ||
                     field.dtype == DType::u64 || field.dtype == DType::i16 || field.dtype == DType::u16;
  if (!known || field.shape != Shape{2})
    throw error_in(file, Errc::unsupported,
                   "its `coords` are " + std::string(to_string(field.dtype)) + " [N]" + field.shape.to_string() +
                       ", and should be whole numbers [N, 2]");
  if (has_images(source))
    throw error_in(file, Errc::unsupported,
                   "it has images in it: of CLAM's older files, whose places count pixels of the level of the images");
  read_size(source, list);
  if (source.size() == 0) return list;
  list.at.reserve(static_cast<std::size_t>(source.size()));
  Loader loader(from(source) | batch(4096), {.threads = 1, .epochs = 1});
  while (const auto rows = loader.next()) {
    switch (field.dtype) {
      case DType::i64:
        take<std::int64_t>(*rows, list);
        break;
      case DType::i32:
        take<std::int32_t>(*rows, list);
        break;
      case DType::u64:
        take<std::uint64_t>(*rows, list);
        break;
      case DType::u32:
        take<std::uint32_t>(*rows, list);
        break;
      case DType::i16:
        take<std::int16_t>(*rows, list);
        break;
      default:
        take<std::uint16_t>(*rows, list);
        break;
    }
  }
  return list;
}

}  // namespace

std::vector<SlideCoords> read_coords(const std::string& path) {
  const std::vector<std::string> files = files_of(path);
  std::vector<SlideCoords> lists(files.size());
  common::for_each_on_threads(files.size(), 0, [&](std::size_t i) { lists[i] = read_file(files[i]); });
  return lists;
}

}  // namespace penstock
