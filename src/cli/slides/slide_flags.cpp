// SPDX-License-Identifier: Apache-2.0
#include "slides/slide_flags.hpp"

#include <utility>

#include <penstock/sources/coords.hpp>

#include "console/command_line.hpp"
#include "console/output.hpp"
#include "console/pipe_text.hpp"

namespace penstock::cli {

std::string SlideFlags::first_given() const {
  for (const CLI::Option* const option : options)
    if (option->count() != 0) return option->get_name();
  return "";
}

namespace {

void add_level_options(CLI::App& command, SlideFlags& flags) {
  CLI::Option* const level =
      command.add_option("--level", flags.level, "The level that tiles are made of; 0 is the finest");
  level->check(CLI::Range(0, 63));
  CLI::Option* const mpp = command.add_option("--mpp", flags.mpp,
                                              "Or micrometres from one pixel of a tile to the next; where no stored "
                                              "level has them, a finer one is made smaller");
  mpp->check(CLI::Range(0.05, 20.0))->excludes(level);
  command.add_option("--magnification", flags.magnification, "Or the magnification of an objective: 20, say")
      ->check(CLI::Range(0.5, 1000.0))
      ->excludes(level)
      ->excludes(mpp);
  command
      .add_option("--tolerance", flags.tolerance,
                  "For --mpp and --magnification: a stored level whose pixels differ by this share at most is taken")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
}

void add_grid_options(CLI::App& command, SlideFlags& flags) {
  command.add_option("--size", flags.size, "Pixels on each side of a tile")
      ->check(CLI::Range(1, 8192))
      ->capture_default_str();
  command.add_option("--stride", flags.stride, "Pixels from one tile to the next; default: --size less --overlap")
      ->check(CLI::Range(1, 1 << 24));
  command.add_option("--overlap", flags.overlap, "Pixels that neighbours share")->check(CLI::Range(0, 8191));
  command
      .add_option("--edges", flags.edges,
                  "Tiles that reach beyond the slide: left out, filled up with white, or cut off where it ends")
      ->check(CLI::IsMember({"drop", "pad", "shrink"}))
      ->capture_default_str();
}

void add_tissue_options(CLI::App& command, SlideFlags& flags) {
  CLI::Option* const tissue =
      command.add_option("--tissue", flags.tissue,
                         "Only tiles that show tissue, told from glass by the saturation of its colour, or by being "
                         "darker");
  tissue->check(CLI::IsMember({"everywhere", "saturation", "grey"}))->capture_default_str();
  SlideTissue& rules = flags.rules;
  const auto of_tissue = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->needs(tissue)->capture_default_str();
  };
  of_tissue("--least-tissue", rules.least, "Share of a tile that must be tissue")->check(CLI::Range(0.0, 1.0));
  of_tissue("--tissue-mpp", rules.mpp, "Micrometres a pixel of the mask that tells, at most")
      ->check(CLI::Range(1.0, 200.0));
  of_tissue("--tissue-threshold", rules.threshold, "1 to 254, of saturation or grey; 0: Otsu's, of each slide")
      ->check(CLI::Range(0, 254));
  of_tissue("--tissue-closing", rules.closing, "Micrometres around tissue in which gaps are closed")
      ->check(CLI::Range(0.0, 10'000.0));
  of_tissue("--tissue-area", rules.least_area, "Square micrometres: smaller pieces go, smaller holes are filled")
      ->check(CLI::Range(0.0, 1e12));
}

void add_region_options(CLI::App& command, SlideFlags& flags) {
  SlideRegions& regions = flags.regions;
  CLI::Option* const folder = command.add_option(
      "--regions", regions.folder,
      "A folder with regions of each slide, NAME.geojson or .json (QuPath's), NAME.xml (ASAP's) or NAME.png (a mask)");
  folder->type_name("DIR");
  const auto of_regions = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->needs(folder);
  };
  add_names_option(command, "--include", regions.include,
                   "Only tiles in regions of these classes, names between commas, one with a comma in double quotes; "
                   "'*' for any")
      ->needs(folder);
  add_names_option(command, "--exclude", regions.exclude, "Only tiles outside of regions of these classes")
      ->needs(folder);
  of_regions("--least-region", regions.least, "Share of a tile that must be in the ones, and outside of the others")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  of_regions("--region-field", regions.field, "A field of the tiles that says the class of most of their pixels");
  of_regions("--region-mpp", regions.mpp, "Micrometres a pixel in which regions are looked at")
      ->check(CLI::Range(0.05, 200.0))
      ->capture_default_str();
  command
      .add_option(
          "--region-origin", flags.region_origin,
          "What coordinates of regions count from where OpenSlide's bounds are not the whole slide: the slide's "
          "top left pixel, or that of the bounds. Default: QuPath's from the bounds, others are an error")
      ->check(CLI::IsMember({"slide", "bounds"}))
      ->needs(folder);
  command
      .add_flag("--regions-may-miss", flags.regions_may_miss,
                "Slides without a file of regions have none; otherwise they are an error")
      ->needs(folder);
}

void add_stain_options(CLI::App& command, SlideFlags& flags) {
  CLI::Option* const stain = command.add_option(
      "--stain", flags.stain,
      "How each slide is stained, by the method of Macenko or of Reinhard, becomes a field `stain` of "
      "its tiles, for the stage normalize_stain");
  stain->check(CLI::IsMember({"none", "macenko", "reinhard"}))->capture_default_str();
  command
      .add_option("--stain-patches", flags.stain_patches,
                  "Squares of 128 pixels of tissue that this is measured in, at most")
      ->check(CLI::Range(1, 4096))
      ->needs(stain)
      ->capture_default_str();
}

void add_coords_options(CLI::App& command, SlideFlags& flags) {
  CLI::Option* const coords =
      command.add_option("--from-coords", flags.from_coords,
                         "The tiles that CLAM or TRIDENT lists in this folder, NAME.h5, or in this file");
  coords->type_name("DIR");
  command
      .add_flag("--coords-of-any-size", flags.coords_of_any_size,
                "Lists of tiles that show another part of a slide than --size are taken, too")
      ->needs(coords);
}

void add_label_options(CLI::App& command, SlideFlags& flags) {
  command.add_option("--labels", flags.labels,
                     "CSV file with a header and a line a slide: its columns become fields of the tiles");
  command.add_option("--slide-column", flags.slide_column,
                     "The column of --labels with the slides' names; default: the one in which most of them stand");
  command.add_option(
      "--mpp-column", flags.mpp_column,
      "The column of --labels with the micrometres a pixel of each slide's level 0, in place of what its "
      "file says");
  command
      .add_option("--assume-mpp", flags.assumed_mpp,
                  "Micrometres a pixel of level 0, of slides whose files don't say it")
      ->check(CLI::Range(0.05, 20.0));
  add_names_option(command, "--columns", flags.columns, "Only these columns of --labels, names between commas");
  command.add_flag("--leave-out-unlisted", flags.leave_out_unlisted,
                   "Slides without a line in --labels are left out; otherwise they are an error");
}

}  // namespace

void add_slide_options(CLI::App& command, SlideFlags& flags, const std::string& group) {
  const std::size_t before = command.get_options().size();
  add_level_options(command, flags);
  add_grid_options(command, flags);
  add_tissue_options(command, flags);
  add_region_options(command, flags);
  add_stain_options(command, flags);
  add_coords_options(command, flags);
  add_label_options(command, flags);
  const std::vector<CLI::Option*> all = command.get_options();
  for (std::size_t i = before; i < all.size(); ++i) {
    flags.options.push_back(all[i]);
    if (!group.empty()) all[i]->group(group);
  }
}

void add_index_option(CLI::App& command, SlideFlags& flags, const std::string& group) {
  CLI::Option* const index =
      command.add_option("--index", flags.index,
                         "What `penstock index` saved of these slides, with the same options: none is opened before "
                         "its first tile");
  index->type_name("FILE");
  flags.options.push_back(index);
  if (!group.empty()) index->group(group);
}

Slides slides_of(const SlideFlags& flags, std::vector<std::string> paths) {
  if (flags.overlap >= flags.size) throw UsageError("--overlap must be less than --size");
  if (!flags.mpp_column.empty() && flags.labels.empty())
    throw UsageError("--mpp-column is a column of --labels, a CSV file");
  if (flags.stride != 0 && flags.overlap != 0) throw UsageError("--stride and --overlap say the same; give one");
  if (!(flags.columns.empty() && flags.slide_column.empty()) && flags.labels.empty())
    throw UsageError("--columns and --slide-column are columns of --labels, a CSV file");
  if (!flags.regions.folder.empty() && flags.regions.include.empty() && flags.regions.exclude.empty() &&
      flags.regions.field.empty())
    throw UsageError("--regions needs --include, --exclude or --region-field: what they are for");
  Slides slides{.paths = std::move(paths),
                .level = flags.level,
                .mpp = flags.mpp,
                .magnification = flags.magnification,
                .size = flags.size,
                .stride = flags.stride,
                .overlap = flags.overlap,
                .labels = readable_again(flags.labels),
                .slide_column = flags.slide_column,
                .columns = flags.columns,
                .mpp_column = flags.mpp_column,
                .assumed_mpp = flags.assumed_mpp,
                .mpp_tolerance = flags.tolerance};
  slides.edges = flags.edges == "pad"      ? SlideEdges::pad
                 : flags.edges == "shrink" ? SlideEdges::shrink
                                           : SlideEdges::drop;
  slides.tissue = flags.rules;
  if (flags.tissue != "everywhere")
    slides.tissue.by = flags.tissue == "grey" ? SlideTissue::By::grey : SlideTissue::By::saturation;
  slides.index = flags.index;
  slides.regions = flags.regions;
  if (flags.stain != "none")
    slides.stain.method = flags.stain == "reinhard" ? StainMethod::reinhard : StainMethod::macenko;
  slides.stain.patches = flags.stain_patches;
  if (!flags.region_origin.empty())
    slides.regions.origin = flags.region_origin == "slide" ? SlideRegions::Origin::slide : SlideRegions::Origin::bounds;
  if (flags.regions_may_miss) slides.regions.missing = SlideRegions::Missing::empty;
  if (!flags.from_coords.empty()) slides.coords = read_coords(flags.from_coords);
  slides.coords_of_any_size = flags.coords_of_any_size;
  if (flags.leave_out_unlisted) slides.unlisted = Slides::Unlisted::leave_out;
  return slides;
}

CLI::Option& add_picture_side_option(CLI::App& command, std::int32_t& side) {
  return *command.add_option("--picture-side", side, "Pixels of a slide's longer side in its picture, at most")
              ->check(CLI::Range(64, 8192))
              ->capture_default_str();
}

}  // namespace penstock::cli
