// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/slide_coords.hpp>
#include <penstock/sources/slide_regions.hpp>
#include <penstock/sources/slide_stain.hpp>
#include <penstock/sources/slide_tissue.hpp>

namespace penstock {

/// What happens to places that reach beyond a slide.
enum class SlideEdges : std::uint8_t {
  drop,    ///< they are not records
  pad,     ///< they are records; `Slides::pad_color` fills the part outside of the slide
  shrink,  ///< they are records whose images end at the slide's edge: `image` is [?, ?, 3]
};

/// In which order the places of a slide's grid are records.
enum class SlideOrder : std::uint8_t {
  rows,     ///< row by row, from left to right: keys ascend
  squares,  ///< 8 x 8 places at a time. With `shuffle({.blocks = true})`, neighbours that share tiles of the file are
            ///< then read at about the same time, so few tiles are decoded more than once
};

/// Whole-slide images to train from, without cutting them into tiles first. Each record is a place of a grid over a
/// slide. `from(Slides{.files = "cohort/*.svs", .size = 256})` opens the slides.
///
/// Penstock reads these slides itself: tiled TIFF and BigTIFF, Aperio SVS and OME-TIFF, with one of these kinds of
/// tiles:
/// - JPEG or JPEG 2000, with 8 bits, RGB or YCbCr;
/// - deflate, LZW, PackBits, Zstandard or uncompressed values, with 8 or 16 bits, grey or RGB, with or without alpha;
/// - the same with 8 bits and a palette, without alpha.
///
/// Values may have predictor 2, and colours may be stored apart from each other. Grey becomes RGB. 16 bits become 8 as
/// in libtiff: grey keeps the high byte, a value of RGB becomes the nearest. Pixels with alpha are laid over white.
///
/// In a file with several images, it reads the first image; in OME-TIFF, the largest image that OME-XML names.
///
/// OpenSlide reads all other slides (NDPI, MIRAX, SCN, other compressions, ...). When Penstock first needs OpenSlide's
/// library, it tries the file that the environment variable PENSTOCK_OPENSLIDE names, then libopenslide.so.1, then
/// libopenslide.so.0. No colour profile is applied to pixels.
///
/// Level 0 is the finest stored level. Records come from level 0, from a coarser stored level, or from an image whose
/// pixels have the size that `mpp` or `magnification` asks for. If no stored level has pixels of that size, the next
/// finer level is made smaller, as `resize` would resize the whole level. Images of neighbouring records meet without a
/// seam.
///
/// A record has the fields
/// - `image`, u8 [size, size, 3] in RGB;
/// - `slide`, i64: the slide's number in `SlideSource::slides`, from 0;
/// - `x` and `y`, i64: the record's top left pixel, in pixels of level 0;
/// - the fields that `stain.field` and `regions.field` name, if these options are used;
/// - the columns of `labels`.
struct Slides {
  using Source = class SlideSource;  ///< the source that `from` opens
  // What most callers set.
  /// A file, or a pattern with `*`, `?` and `[a-z]`. Files that fit a pattern are read in the order of their paths'
  /// bytes.
  std::string files = {};
  /// The paths of the files, in this order, instead of `files`.
  ///
  /// With either option, the files of a DICOM series in one folder are one slide, which is named after the first of
  /// them. Each file of the series has a level of the slide, or another image, such as the label.
  std::vector<std::string> paths = {};
  /// The level that records come from, numbered as in the file: 0 is the finest. Levels that can't be read have numbers
  /// too. `size`, `stride` and `overlap` count pixels of this level. If OpenSlide reads a level whose pixels do not
  /// cover whole pixels of level 0, OpenSlide interpolates. Values of a record then depend a little on where the record
  /// begins.
  std::int32_t level = 0;
  /// Micrometres from one pixel of a record to the next, the same for each slide: 0.05 to 20. `size`, `stride` and
  /// `overlap` count these pixels. A slide can't be read if its level 0 is coarser by more than `mpp_tolerance`.
  /// Default (0): `level` decides.
  double mpp = 0;
  /// Magnification of an objective, instead of `level` or `mpp`: 0.5 to 1000. The size of a record's pixels follows
  /// from this magnification and from the magnification of level 0, which is in the file. If the file does not have the
  /// magnification of level 0, Penstock takes the one that is usual for the micrometres per pixel of level 0. That is
  /// 80 below 0.16, 60 below 0.2, 40 below 0.3 and 20 below 0.6. Each further doubling of micrometres halves the
  /// magnification, down to 1.25. Default (0): `level` or `mpp` decides.
  double magnification = 0;
  std::int32_t size = 256;   ///< pixels on each side of a record's image: 1 to 65,536
  std::int32_t stride = 0;   ///< pixels from one place to the next, across and down. Default (0): `size - overlap`
  std::int32_t overlap = 0;  ///< pixels that neighbours share, instead of `stride`; less than `size`
  /// A CSV file with a header and a line for each slide. Its columns become fields, with the same values for all
  /// records of a slide. Default (empty): no file.
  ///
  /// Cells are separated by commas, or, if commas do not give all lines the same number of cells, by semicolons or
  /// tabs. In files named *.tsv or *.tab, tabs separate cells. Spaces and tabs around names and cells are ignored, also
  /// inside quotes. Whole numbers become i64, other numbers f32. Text becomes the number of a class, i64. Classes are
  /// numbered from 0 in the order of their names' bytes, over all lines of the file, and the schema has their names. If
  /// a column becomes classes although most of its cells are numbers, `SlideSource::left_out` reports that.
  ///
  /// A cell is missing if it is empty or "NA". If all other cells of the column are numbers, "N/A", "n/a", "#N/A",
  /// "NULL" and "null" are missing, too. In a column of f32, a missing cell and "nan" are NaN. In any other column, a
  /// missing cell is an error.
  ///
  /// A line names a slide by the name of the slide's file, with or without the ending, and with or without folders
  /// before the name.
  /// - It is an error if several files have the name.
  /// - A relative path must be the end of the path of the slide's file.
  /// - An absolute path of an existing file names that file, or a copy of it with the same number of bytes.
  /// - For a copy, and for a path of another machine, the path's end must agree with the end of the path of the slide's
  ///   file. The end is the file's name and at least one folder. If all absolute paths are in one folder, the file's
  ///   name is enough.
  /// - A line that names no slide is skipped.
  std::string labels = {};
  // What changes results.
  /// The column with the slides' names. Default (empty): the column that names the most slides. If several columns name
  /// equally many slides, the one with the fewest lines that name a slide a second time is used. If there are still
  /// several, the one in which the most names have the file's own ending is used. If columns are still tied and name
  /// different slides, opening throws.
  std::string slide_column = {};
  /// The columns that become fields. Default (empty): all columns that have a name, except `slide_column`, `group` and
  /// `mpp_column`.
  std::vector<std::string> columns = {};
  /// The column that says which slides belong together, a patient's for example, for splits by group. Default (empty):
  /// each slide is a group.
  std::string group = {};
  /// The column with the micrometres per pixel of level 0, 0.05 to 20. Its values replace those of the files. For a
  /// slide with a value, the magnification in the file is ignored too. If a cell is missing, the file's values stay.
  /// The column becomes a field only if `columns` names it. Default (empty): no column.
  std::string mpp_column = {};
  /// Micrometres per pixel of level 0 for slides whose files don't have this number. Default (0): such slides can't be
  /// read by `mpp`. By `magnification`, they can be read only if the file has the magnification of level 0.
  double assumed_mpp = 0;
  /// What to do with slides that have no line in `labels`.
  enum class Unlisted : std::uint8_t {
    refuse,     ///< throw an error that lists them
    leave_out,  ///< leave them out
  };
  /// What to do with slides that have no line in `labels`. Default: throw an error.
  Unlisted unlisted = Unlisted::refuse;
  /// Index of the first file to open, for processes that share a cohort (`Rank::items_of`). Files before it have no
  /// records. Names, numbers of slides, classes and fields are the same as if all files were opened. If the parts of
  /// all processes are read one after the other, their records are the records of all files. The source
  /// reads the files of regions of all slides, because it needs their classes. If `index` is set, the index must list
  /// all slides. This includes slides that this process does not open.
  std::size_t first_file = 0;
  /// Number of files that are opened, from `first_file` on. Default: all.
  std::size_t file_count = ~std::size_t{0};
  /// For `mpp` and `magnification`: a stored level is used unchanged if its pixels are at most this share larger or
  /// smaller than required. 0 to 0.5.
  double mpp_tolerance = 0.02;
  /// Where the grid begins, in pixels of level 0, rounded to a pixel of the image that records come from.
  std::int64_t left = 0, top = 0;
  SlideEdges edges = SlideEdges::drop;                   ///< what happens to places that reach beyond the slide
  std::array<std::uint8_t, 3> pad_color{255, 255, 255};  ///< RGB, for SlideEdges::pad
  SlideOrder order = SlideOrder::rows;                   ///< in which order the places of a slide are records
  /// Lists of places that are records, instead of the places of a grid: one list per slide. Slides without a list have
  /// no record. Default (empty): the places of a grid.
  ///
  /// The order of a list has no effect: records come row by row, or in squares of 8 x 8 strides. A place that is listed
  /// twice is one record. Each place takes 8 bytes of memory. A slide can't be read if the places of its list are
  /// larger or smaller than records, or if the list is for a slide of another size.
  std::vector<SlideCoords> coords = {};
  /// If true, the size of places in `coords` is ignored. Records begin at these places, and have `size` pixels on each
  /// side.
  bool coords_of_any_size = false;
  /// Which places are records, by the tissue that they show. Masks of tissue are made on all cores, at most 16, when
  /// the slides are opened. For this, a coarse level of each slide is decoded, or level 0 if there is no coarser level.
  SlideTissue tissue = {};
  /// Which places are records, by the regions that they are in, and which class they show. The files of regions are
  /// read on all cores, at most 16, when the slides are opened.
  SlideRegions regions = {};
  /// Whether to measure how each slide is stained, for `normalize_stain`. Stains are measured on all cores, at most 16,
  /// when the slides are opened. For this, a few hundred squares of each slide are decoded.
  SlideStain stain = {};
  // What changes only speed and memory.
  /// A saved index (`write_slide_index`) of these slides. Opening then reads facts about slides from the index, and a
  /// slide is opened only when its first tile is read. Default (empty): all slides are opened.
  ///
  /// Give the same options as when the index was made. These may differ: `order`, `pad_color`, `unlisted`,
  /// `regions.missing`, names of fields, columns of `labels`, and options that change only speed. `files`, `paths`,
  /// `first_file` and `file_count` may choose some of the index's slides. If the index was made with `coords` or
  /// `mpp_column`, give them again. Each slide must have the same list in the same order, and the same micrometres in
  /// its line.
  ///
  /// Opening throws Error(invalid_argument) if
  /// - the index was made with other options, lists or micrometres, or lacks a slide;
  /// - the index was made with other files of regions, or with other files of a DICOM series or a MIRAX slide;
  /// - the index was made with a different version of OpenSlide.
  ///
  /// When a slide is opened, the size and some bytes of its file are compared with the index. If they differ, each
  /// record of the slide is an error.
  std::string index = {};
  std::size_t max_open_files = 128;  ///< limit on open files; the file read longest ago is closed first. At least 1
  /// Bytes of memory for the positions of tiles in their files, for all slides together. A tile takes 8 to 16 bytes. If
  /// this memory is full, the positions of further slides' tiles are read together with the tiles.
  std::size_t max_kept_bytes = std::size_t{32} << 20;
  /// Bytes of decoded tiles that OpenSlide may keep, for all slides together. OpenSlide before version 4 keeps up to 32
  /// MiB per open slide. With such a version, fewer slides stay open, but at least one for each thread that reads.
  std::size_t max_openslide_bytes = std::size_t{256} << 20;
};

/// Which code decodes a slide.
enum class SlideCodec : std::uint8_t {
  jpeg,          ///< Penstock decodes the slide's tiles, which are JPEG
  jpeg2000,      ///< Penstock decodes the slide's tiles, which are JPEG 2000
  uncompressed,  ///< Penstock reads the slide's tiles, which are plain values
  deflate,    ///< Penstock decodes the slide's tiles, which are compressed by deflate, also called Adobe deflate or ZIP
  lzw,        ///< Penstock decodes the slide's tiles, which are compressed by LZW
  packbits,   ///< Penstock decodes the slide's tiles, which are compressed by PackBits
  zstd,       ///< Penstock decodes the slide's tiles, which are compressed by Zstandard
  openslide,  ///< OpenSlide decodes the slide's pixels
};

/// Returns the codec's name, such as "JPEG 2000" or "deflate". Never null.
PENSTOCK_API const char* to_string(SlideCodec codec) noexcept;

/// A level that is stored in a slide's file.
struct SlideLevel {
  std::int64_t width = 0, height = 0;            ///< pixels
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile of the file; 0 if not known
  friend bool operator==(const SlideLevel&, const SlideLevel&) = default;
};

/// What is known about a slide.
struct SlideInfo {
  std::string path;                     ///< the file's path, as given or found
  std::string name;                     ///< the slide's name, with which its keys begin
  std::int64_t width = 0, height = 0;   ///< pixels, at level 0
  std::vector<SlideLevel> levels = {};  ///< the stored levels, the finest first
  /// Why a level of `levels` can't be read, or why a level of the file is not in `levels`. Empty if there is no such
  /// level.
  std::string missing_levels = {};
  /// Which images of the file are not read although they are at least a quarter as large as the image that is read.
  /// Empty if there are no such images.
  std::string unread_images = {};
  double mpp_x = 0, mpp_y = 0;                     ///< micrometres per pixel of level 0; 0 if not known
  double magnification = 0;                        ///< magnification of the objective; 0 if the file has none
  std::size_t level = 0;                           ///< the stored level that records come from
  std::int64_t image_width = 0, image_height = 0;  ///< size of the image that the grid divides, in pixels of records
  bool resampled = false;  ///< true if the image that the grid divides is `level` made smaller; false if it is `level`
  SlideCodec codec = SlideCodec::jpeg;  ///< which code decodes the pixels of `level`
  std::string why_openslide = {};       ///< why OpenSlide reads the slide; empty if Penstock does
  /// The slide's other files, if it is a MIRAX slide or a DICOM series.
  std::vector<std::string> other_files = {};
  /// The version of OpenSlide that has looked at the slide, or "none" if OpenSlide was not found. With an index: the
  /// version when the index was made. Empty if OpenSlide is not needed.
  std::string openslide = {};
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile of `level` in the file; 0 if not known
  std::uint64_t places = 0;                      ///< number of places of the slide's grid, or of its list
  /// The number of the slide's first record in the source, and how many records the slide has. Records are the slide's
  /// places, except places that `tissue`, `regions` or a view leaves out.
  std::uint64_t first = 0, records = 0;
  std::string region_file = {};  ///< the file with the slide's regions; empty if there is none
  /// How the slide is stained. None if `Slides::stain` doesn't ask for it, or if the slide has no record or can't be
  /// read.
  std::optional<StainFit> stain = {};
  /// True if Penstock decodes the slide, `resampled` is false, and no two records need the same tile of the file. Tiles
  /// are then decoded directly into the batch.
  bool whole_tiles = false;
  /// True if `Slides::first_file` and `file_count` exclude the slide.
  bool passed_over = false;
  /// Why the slide can't be read; none if it can. A slide that can't be read has one record, which is this error.
  std::optional<Error> failure = {};
};

/// Where a record is on its slide.
struct SlidePlace {
  std::size_t slide = 0;                  ///< the slide's number in `SlideSource::slides`
  std::int64_t x = 0, y = 0;              ///< the record's top left pixel, at level 0
  std::int64_t image_x = 0, image_y = 0;  ///< the record's top left pixel, in the image that the grid divides
};

/// The records of slides. Immutable; copies share open files and decoders. Any thread may use it.
///
/// Opening reads each file's directories. If `Slides::tissue` or `stain` needs a mask, opening also reads the level
/// that the mask is made of; for `stain`, it also reads some of the tissue. The source keeps a few hundred bytes per
/// slide, a bit per place if `tissue` or `regions` chooses places, and the positions of tiles up to
/// `Slides::max_kept_bytes`.
///
/// If no two records of a slide need the same tile (`SlideInfo::whole_tiles`), tiles are decoded directly into the rows
/// of a batch. Otherwise the file's tiles are blocks. Slides that OpenSlide reads have no blocks. Nor have slides whose
/// level is made so much smaller that records share few tiles. A loader keeps decoded tiles within
/// `LoaderOptions::max_block_bytes`. If a tile would not stay in this memory until it is needed again, only the part
/// that a record needs is decoded. `Pipeline::plan()` reports how slides are read. Images are promised (PromisedImage):
/// if a crop follows, only the crop's box is decoded. If a filter on other fields removes a record, the record's image
/// is not decoded.
///
/// A bad tile is an error only for the records that need it. A tile is bad if it is empty (0 bytes) or beyond the
/// file's end, if its data are damaged, or if its size differs from what the file says. Errors name the file, and the
/// tile by its level and its top left pixel at that level. Damage is found if the tile is decoded whole. If only a part
/// of the tile is decoded, damage in the rest is found only with `check({.verify = true})`.
///
/// A slide that can't be read has one record. Reading this record throws the slide's error, so `on_error` of the
/// pipeline decides what happens. Reading throws Error(io) if the file's size or time of change is not the same as when
/// the slide was opened. If another file takes the file's name, the old file is read as long as it stays open. When the
/// slide has to be opened again, reading throws Error(io).
class PENSTOCK_API SlideSource {
 public:
  /// Opens the slides.
  /// @throws Error(not_found) if no file fits the pattern, or if `labels`, `regions.folder` or `index` does not exist.
  /// @throws Error(invalid_argument) if
  /// - the options can't work;
  /// - a file is given twice, also by another name or a link;
  /// - a slide has no line in `labels`, and `unlisted` is `refuse`;
  /// - a slide has no file of regions, and `regions.missing` is `refuse`;
  /// - a column does not exist, a cell is missing, or a number fits neither i64 nor f32.
  /// @throws Error(corrupt) if `labels` is not a CSV file.
  explicit SlideSource(Slides options);

  /// Number of records of all slides together.
  std::uint64_t size() const noexcept;
  /// {image: u8[size, size, 3], slide: i64[], x: i64[], y: i64[], ...}.
  Schema schema() const;
  /// Number of blocks. Blocks are the tiles of slides whose records share tiles.
  std::uint64_t blocks() const noexcept;
  /// Size of a tile's pixels in bytes. @throws Error(not_found) past the end.
  std::uint64_t block_bytes(std::uint64_t block) const;
  /// Appends the tiles that a record needs, row by row. Appends nothing if the tiles of the record's slide are not
  /// blocks.
  /// @throws Error(not_found) past the end.
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const;
  /// Returns true for every block, because `read` works without blocks too.
  bool can_do_without(std::uint64_t) const noexcept { return true; }
  /// Decodes a whole tile into `bytes`, u8 [tile_height, tile_width, 3], and checks it to its end.
  /// @throws Error(corrupt) if the tile's data are damaged; Error(io) if the file can't be read or was changed.
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  /// Promises the image, and sets the other fields. @throws the slide's error, if the slide can't be read.
  void read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "slide"; }
  /// The pattern, or the first path.
  std::string file() const;
  /// The slide's file. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// Returns "NAME/y_x". y and x are the record's top left pixel at level 0. Both numbers have 6 digits, or more if the
  /// slide's longer side needs more, so that the keys of a slide ascend row by row. NAME is the name of the file
  /// without its ending (".ome.tif" is one ending). If two slides would have the same name, the names of all slides are
  /// their files' paths below the common folder, without the ending. If two of these are the same too, all names keep
  /// their endings.
  /// @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Returns where the record is. Reads nothing. @throws Error(not_found) past the end.
  SlidePlace place(std::uint64_t index) const;
  /// Hash of the slides' names and sizes, of the files' sizes, of the lines of `labels`, and of the options that change
  /// results.
  std::uint64_t identity() const noexcept;
  /// Hash of the files' sizes and some of their bytes when they were opened.
  std::uint64_t revision() const noexcept;
  /// Numbers of records up to the end of each row of places, or of each square. @throws Error(limit_exceeded) if there
  /// are more than 2^27.
  std::vector<std::uint64_t> block_ends() const;
  /// The values of a field of whole numbers, one per record; none for other fields. Decodes nothing.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
  /// The groups that the column `Slides::group` makes of slides. Without it, each slide is a group.
  std::vector<Group> groups() const;
  /// Says how slides are read, which slides can't be read, and which damage is not found.
  std::vector<std::string> notes() const;
  /// A line for each reason why files, or lines of `labels`, have no records: slides without a line, slides that are
  /// smaller than `size`, lines that name no slide. Further lines report
  /// - places that are left out, by `tissue`, by `regions`, or because they are beyond the slide;
  /// - a folder that `labels` names, if the slides are in another folder;
  /// - the column that was chosen for the slides' names, if another column could be meant;
  /// - columns that became classes although most of their cells are numbers;
  /// - slides whose regions were moved by OpenSlide's bounds, annotations that were skipped, and classes that no slide
  ///   has;
  /// - levels, images and parts of masks that can't be read.
  ///
  /// `notes` has these lines too.
  std::vector<std::string> left_out() const;

  /// Returns a view of the records that have one of these values in `field`. The field is `slide`, a column of whole
  /// numbers or classes, or the field of `regions.field`. A view takes a bit per place, and shares open files and
  /// decoders. `mix` over such views draws classes in equal parts, without memory for each record. A slide that can't
  /// be read has one record. A view by a column has this record if the slide's line has one of the values. A view by
  /// `regions.field` always has it. @throws Error(invalid_argument) for any other field.
  SlideSource only(std::string_view field, std::initializer_list<std::int64_t> values) const;
  /// Does the same for the classes with these names.
  /// @throws Error(not_found) if the field does not have such a class.
  SlideSource only(std::string_view field, std::initializer_list<std::string_view> names) const;

  /// The options as they were given, with three exceptions: `stride` has its actual value, `paths` has the file of each
  /// slide, and `coords` is empty. The reference is valid as long as a copy of the source exists.
  const Slides& options() const noexcept;
  /// Facts about each slide, in the order in which the slides were given or found. The reference is valid as long as a
  /// copy of the source exists.
  const std::vector<SlideInfo>& slides() const noexcept;

 private:
  friend class SlideDrawing;
  class Impl;
  explicit SlideSource(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
