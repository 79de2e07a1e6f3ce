// SPDX-License-Identifier: Apache-2.0
#include "slides/slide_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <penstock/error.hpp>
#include <penstock/sources/slide_endings.hpp>

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

// Finds the files and folders next to slides that are parts of a slide. These are the folder "x" of x.mrxs and x.dcm,
// "_x_" of x.vsi, and the files of a slide x.vms or x.vmu, like "x(0,1).jpg", "x_map2.jpg", "x_macro.jpg", "x.opt".
class Parts {
 public:
  explicit Parts(const std::vector<std::string>& slides) {
    for (const std::string& slide : slides) {
      const std::string stem = fs::path(slide).stem().string();
      if (has_ending(slide, ".mrxs") || has_ending(slide, ".dcm")) folders_.insert(stem);
      if (has_ending(slide, ".vsi")) folders_.insert("_" + stem + "_");
      if (has_ending(slide, ".vms") || has_ending(slide, ".vmu")) beginnings_.insert(stem);
    }
  }
  bool has_folder(const std::string& name) const { return folders_.contains(name); }
  bool has_file(std::string_view name) const {
    if (beginnings_.empty() || !(has_ending(name, ".jpg") || has_ending(name, ".ngr") || has_ending(name, ".opt")))
      return false;
    const std::string_view stem = name.substr(0, name.rfind('.'));
    for (const std::size_t end : {stem.size(), stem.rfind('('), stem.rfind("_map"), stem.rfind("_macro")})
      if (end != std::string_view::npos && beginnings_.contains(stem.substr(0, end))) return true;
    return false;
  }

 private:
  std::set<std::string> folders_;
  std::set<std::string, std::less<>> beginnings_;
};

std::vector<std::string> slides_of_folder(const std::string& folder, SkippedEntries& passed_over) {
  FolderListing listing = list_files(folder, names_slide, "slide");
  const Parts parts(listing.files);
  SkippedEntries here;
  for (const std::string& name : listing.others)
    if (!parts.has_file(name) && !is_beside_shards(name)) here.add_file(name);
  std::error_code failed;
  for (const std::string& name : listing.folders)  // a folder that is an LMDB does not count
    if (!parts.has_folder(name) && !is_beside_shards(name) && !fs::exists(fs::path(folder) / name / "data.mdb", failed))
      here.add_folder();
  passed_over.add(here);
  if (listing.files.empty())
    throw Error(Errc::not_found, "the folder has no slides in it: *.svs, *.tif, *.ndpi, *.mrxs, *.dcm and so on" +
                                     (here.text().empty() ? "" : ", only " + here.text()))
        .with_file(folder);
  return std::move(listing.files);
}

}  // namespace

WantedSlides slide_files(const std::vector<std::string>& arguments) {
  WantedSlides all;
  for (const std::string& argument : arguments) {
    std::error_code failed;
    std::vector<std::string> found;
    if (fs::is_directory(argument, failed)) {
      found = slides_of_folder(argument, all.passed_over);
    } else {
      found = files_of_pattern(argument, "slide", true);
      if (found.front() == argument && !fs::exists(argument, failed))
        throw Error(Errc::not_found, "there is no such file").with_file(argument);
    }
    all.files.insert(all.files.end(), found.begin(), found.end());
  }
  return all;
}

std::string passed_over_text(const SkippedEntries& passed_over) {
  const std::string text = passed_over.text();
  if (text.empty()) return {};
  return fmt::format(
      "passed over: {}; of a folder those files are slides that end in .svs, .tif, .ndpi and so on: name others, and "
      "folders in it, themselves",
      text);
}

}  // namespace penstock::cli
