// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/sources/coords_file.hpp>

#include "coords_attributes.hpp"

namespace penstock {

namespace fs = std::filesystem;

namespace {

using Places = std::vector<std::array<std::int64_t, 2>>;

Places places_of(const SlideSource& source, const SlideInfo& slide) {
  Places places;
  places.reserve(static_cast<std::size_t>(slide.records));
  for (std::uint64_t i = slide.first; i < slide.first + slide.records; ++i) {
    const SlidePlace place = source.place(i);
    places.push_back({place.x, place.y});
  }
  return places;
}

// Returns the path of a file of `folder`, and creates the folders above the file.
std::string in_folder(const fs::path& folder, const std::string& name) {
  const fs::path path = folder / name;
  make_folder(path.parent_path().string(), coords::source_name);
  return path.string();
}

// Gives a file a second name, by a hard link. Returns false if the file system can't do that.
bool link_to(const std::string& file, const std::string& other, bool sync) {
  const std::string partial = other + ".partial";
  std::error_code failed;
  fs::remove(partial, failed);
  fs::create_hard_link(file, partial, failed);
  if (failed) return false;
  rename_file(partial, other, coords::source_name);
  if (sync) sync_folder_of(other, coords::source_name);
  return true;
}

// Returns a list's name, which is the same for CLAM and TRIDENT: the slide's folders, then its file's name without the
// last ending.
std::string list_name(const SlideInfo& slide) {
  const std::string stem = fs::path(slide.path).stem().string();
  return slide.name.substr(0, slide.name.rfind('/') + 1) + stem;
}

std::string clam_file_of(const fs::path& folder, const SlideInfo& slide) {
  return (folder / "patches" / (list_name(slide) + ".h5")).string();
}

// Removes the file if it is a list of places. Otherwise keeps the file, and adds a note.
void remove_list(const std::string& file, std::vector<std::string>& notes) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return;
  try {
    read_coords(file);
  } catch (const Error& error) {
    notes.push_back(printable(file) + " is no list of places, and stays: " + error.cause());
    return;
  }
  remove_file(file, coords::source_name);
}

// Adds those attributes of `more` whose names `attributes` doesn't have.
void add_missing(std::vector<FeatureAttribute>& attributes, const std::vector<FeatureAttribute>& more) {
  for (const FeatureAttribute& one : more)
    if (std::ranges::find(attributes, one.name, &FeatureAttribute::name) == attributes.end()) attributes.push_back(one);
}

void write_slide(const SlideInfo& slide, const Places& places, const Slides& options, const fs::path& folder, bool sync,
                 std::vector<std::string>& notes) {
  const coords::ClamPatch clam = coords::clam_patch(slide, options);
  std::string why;
  const std::optional<coords::TridentPatch> trident = coords::trident_patch(slide, options, why);
  if (!trident) notes.push_back("slide " + printable(slide.name) + " has no file for TRIDENT: " + why);
  const fs::path clam_folder = folder / "patches";
  const bool same = trident && trident->size == clam.size;

  std::string clam_file;
  if (!places.empty()) {
    std::vector<FeatureAttribute> attributes = coords::clam_attributes(slide, clam, clam_folder.string());
    if (same) add_missing(attributes, coords::trident_attributes(slide, *trident, folder.string()));
    clam_file = in_folder(clam_folder, list_name(slide) + ".h5");
    write_coords_file(clam_file, places, attributes, sync);
  }
  if (!trident) return;
  const fs::path trident_folder = folder / (std::to_string(trident->target) + "x_" + std::to_string(trident->size) +
                                            "px_" + std::to_string(trident->overlap) + "px_overlap");
  const std::string trident_file = in_folder(trident_folder / "patches", list_name(slide) + "_patches.h5");
  if (same && !clam_file.empty() && link_to(clam_file, trident_file, sync)) return;
  write_coords_file(trident_file, places, coords::trident_attributes(slide, *trident, trident_folder.string()), sync);
}

}  // namespace

WrittenCoords write_coords(const SlideSource& source, const std::string& folder, bool sync) {
  WrittenCoords written;
  for (const SlideInfo& slide : source.slides()) {
    if (slide.passed_over) continue;
    // A slide without records gets no list for CLAM. Removes CLAM's list of an earlier run, so that it isn't mistaken
    // for this run's. A slide that can't be read now keeps its list.
    if (!slide.failure && slide.records == 0) remove_list(clam_file_of(folder, slide), written.notes);
    if (slide.failure) {
      const std::string& file = slide.failure->file();
      const std::string earlier = clam_file_of(folder, slide);
      std::error_code failed;
      written.notes.push_back("slide " + printable(slide.name) + " gets no list: " + slide.failure->cause() +
                              (file == slide.path ? "" : " (" + file + ")") +
                              (fs::exists(earlier, failed) ? "; an earlier one stays, " + printable(earlier) : ""));
      continue;
    }
    const Places places = places_of(source, slide);
    write_slide(slide, places, source.options(), folder, sync, written.notes);
    ++written.slides;
    written.places += places.size();
  }
  return written;
}

}  // namespace penstock
