// SPDX-License-Identifier: Apache-2.0
#include "stores/open_boxes.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

bool is_folder(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

// Returns the folders in which the pictures of a file of annotations may be: its own, and those that its name names.
std::vector<fs::path> picture_folders(const fs::path& annotations) {
  const fs::path own = annotations.parent_path(), above = own / "..";
  std::string name = annotations.stem().string();
  for (const std::string_view before : {"instances_", "person_keypoints_", "image_info_"})
    if (name.starts_with(before)) name.erase(0, before.size());
  std::vector<fs::path> folders{own, own / "images", own / name, own / "images" / name};
  for (const fs::path& below : {fs::path("images"), fs::path(name), fs::path("images") / name})
    folders.push_back(above / below);
  for (fs::path& folder : folders) folder = folder.empty() ? fs::path(".") : folder.lexically_normal();
  return folders;
}

bool has_labels(const fs::path& folder) {
  std::error_code failed;
  return is_folder(folder) && std::any_of(fs::directory_iterator(folder, failed), fs::directory_iterator(),
                                          [](const fs::directory_entry& entry) {
                                            return entry.path().extension() == ".txt" &&
                                                   entry.path().filename() != "classes.txt";
                                          });
}

// The folders of a data set, which may be below `images` and `labels` in `top`.
std::optional<YoloSource> open_in(const fs::path& top, const fs::path& below) {
  const auto in = [&](const char* kind) { return below.empty() ? top / kind : top / kind / below; };
  const fs::path images = in("images"), labels = in("labels");
  if (!is_folder(images) || !has_labels(labels)) return std::nullopt;
  Yolo yolo{.images = images.lexically_normal().string(), .labels = labels.lexically_normal().string()};
  for (const fs::path& names : {labels / "classes.txt", top / "classes.txt"})
    if (yolo.names.empty() && is_file(names)) yolo.names = names.lexically_normal().string();
  return YoloSource(std::move(yolo));
}

}  // namespace

CocoSource open_coco(const std::string& path) {
  std::string first;
  try {
    const CocoSource unplaced(Coco{.annotations = path, .images = {}});
    if (unplaced.size() == 0) return unplaced;
    first = unplaced.key(0);
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    throw Error(Errc::corrupt,
                "the file is neither a list of stores, as `penstock merge` writes it, nor COCO's annotations: " +
                    error.cause() + "; merge them again, or copy the annotations again")
        .with_file(path);
  }
  const std::vector<fs::path> folders = picture_folders(path);
  for (const fs::path& folder : folders)
    if (is_file(folder / first)) return CocoSource(Coco{.annotations = path, .images = folder.string()});
  std::string text;
  for (const fs::path& folder : folders) text += (text.empty() ? "" : ", ") + folder.string();
  throw Error(Errc::not_found, "the pictures of these annotations are not found: \"" + first + "\" is in none of " +
                                   text + "; move or link their folder there")
      .with_source("coco")
      .with_file(path);
}

std::optional<VocSource> open_voc(const std::string& folder) {
  if (!is_folder(fs::path(folder) / "Annotations") || !is_folder(fs::path(folder) / "JPEGImages")) return std::nullopt;
  return VocSource(Voc{.root = folder});
}

std::optional<YoloSource> open_yolo(const std::string& folder) {
  if (std::optional<YoloSource> found = open_in(folder, "")) return found;
  fs::path below;
  const fs::path whole = fs::absolute(folder).lexically_normal();
  for (fs::path at = whole; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == "images") return open_in(at.parent_path(), below);
    below = below.empty() ? at.filename() : at.filename() / below;
  }
  return std::nullopt;
}

}  // namespace penstock::cli
