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

/// What becomes of places of the grid that reach beyond a slide.
enum class SlideEdges : std::uint8_t {
  drop,    ///< they are no records
  pad,     ///< `Slides::pad_color` fills what lies outside
  shrink,  ///< their images end where the slide does: the field is [?, ?, 3]
};

/// In which order the places of a slide's grid are records.
enum class SlideOrder : std::uint8_t {
  rows,     ///< row by row, from left to right: keys ascend
  squares,  ///< 8 x 8 places at a time. With `shuffle({.blocks = true})`, neighbours that share tiles of the file then
            ///< come close to each other, and few tiles are decoded more than once
};

/// Whole-slide images to train from, without cutting them first: records are places of a grid over each slide.
/// `from(Slides{.files = "cohort/*.svs", .size = 256})` opens them.
///
/// Tiled TIFF and BigTIFF, Aperio SVS and OME-TIFF whose tiles are JPEG or JPEG 2000, of 8 bits, RGB or YCbCr, are read
/// from their tiles; of each file the first image, or the largest that OME-XML says. All else (NDPI, MIRAX, SCN, other
/// compressions, ...) is read by OpenSlide, which is looked for when it is first needed: the library that the
/// environment variable PENSTOCK_OPENSLIDE names, else libopenslide.so.1, else libopenslide.so.0. Pixels are those of
/// the file: no colour profile is applied.
///
/// Level 0 is the finest one that is stored. Records are made of it, of another that is stored, or of an image with
/// pixels of a size that is asked for. Where no stored level has that size, the next finer one is made smaller, as
/// `resize` would make it of the whole level: tiles that lie side by side meet without a seam.
///
/// A record has the fields `image`, u8 [size, size, 3] in RGB; `slide`, i64, which counts the slides from 0 in the
/// order of `SlideSource::slides`; `x` and `y`, i64: its top left pixel, at level 0 whatever records are made of. After
/// these come `stain.field` and `regions.field`, where they are asked for, and the columns of `labels`.
struct Slides {
  using Source = class SlideSource;  ///< what it opens
  /// A file, or a pattern with `*`, `?` and `[a-z]`, whose files are read in the order of their paths' bytes.
  std::string files = {};
  /// The files themselves, in this order, instead of a pattern in `files`. Either way, files of one folder that are of
  /// one DICOM series are one slide, which the first of them stands for: their levels, and a label, are files of it.
  std::vector<std::string> paths = {};
  /// Only files from this one on are opened and have records: for processes that share a cohort (`Shard::run_of`).
  /// Names, numbers, classes and fields are those of all, so the records are those of all files, in runs. Files of
  /// regions are read of all, for their classes. An index is of all.
  std::size_t first_file = 0;
  /// Number of files that are opened, from `first_file` on; default: all.
  std::size_t file_count = ~std::size_t{0};
  // What changes results.
  /// The level that records are made of, as the file counts them: 0 is the finest, and a level that can't be read
  /// counts. Through OpenSlide, a level whose pixels are not a whole number of those of level 0 has values that
  /// OpenSlide interpolates, and that differ a little with where a record begins. `size`, `stride` and `overlap` count
  /// its pixels.
  std::int32_t level = 0;
  /// Micrometres from one pixel of a record to the next, on each slide, instead of a `level`: 0.05 to 20. `size`,
  /// `stride` and `overlap` count these pixels. A slide whose level 0 is coarser can't be read. 0: `level` says it.
  double mpp = 0;
  /// Magnification of an objective, instead of a `level` or `mpp`: what a pixel of it shows follows from the
  /// magnification that the file says level 0 has. Where it says none, that is 80 for less than 0.16 micrometres, 60
  /// below 0.2, 40 below 0.3, 20 below 0.6, and half as much for each doubling. 0.5 to 1000; 0: `level` or `mpp` says
  /// it.
  double magnification = 0;
  /// For `mpp` and `magnification`: a stored level whose pixels are larger or smaller by this share at most is taken as
  /// it is. 0 to 0.5.
  double mpp_tolerance = 0.02;
  std::int32_t size = 256;   ///< pixels on each side of a record's image: 1 to 65,536
  std::int32_t stride = 0;   ///< pixels from one place to the next, across and down; 0: `size - overlap`
  std::int32_t overlap = 0;  ///< pixels that neighbours share, instead of `stride`; less than `size`
  /// Where the grid begins: pixels at level 0, whatever records are made of, rounded to a pixel of these.
  std::int64_t left = 0, top = 0;
  SlideEdges edges = SlideEdges::drop;                   ///< what becomes of places that reach beyond the slide
  std::array<std::uint8_t, 3> pad_color{255, 255, 255};  ///< RGB, for SlideEdges::pad
  SlideOrder order = SlideOrder::rows;                   ///< in which order the places of a slide are records
  /// A CSV file with a header and a line for each slide: its columns become fields, the same for all records of a
  /// slide. Its cells are separated by commas, or by semicolons or tabs where commas make no table of it, or its name
  /// ends in .tsv. Spaces and tabs around names and cells are no part of them, quoted or not. Whole numbers become i64,
  /// other numbers f32, and text the number of a class, i64: classes are numbered from 0 in the order of their names'
  /// bytes, all lines of the file included, and the schema has their names. An empty cell or "NA" is missing; so is
  /// "N/A", "n/a", "#N/A", "NULL" or "null" where all other cells of the column are numbers. What is missing, and
  /// "nan", is NaN in a column of other numbers than whole ones, else an error. Where text makes classes of a column of
  /// which most cells are numbers, `SlideSource::left_out` says so. A line names a slide by its file's name, with
  /// ending or without, after the folders above it or without; a name that several files have is an error. A relative
  /// path has to be the end of the file's. An absolute one of a file that is there means that file, or a copy of it
  /// with as many bytes. Of a copy, and of a file of another machine, the last parts have to be the file's, a folder at
  /// least; only where all absolute paths lie in one folder, the file's name is enough. Lines of slides that are not
  /// there are passed over.
  std::string labels = {};
  /// The column with the slides' names. Empty: that in which most of the slides are named, of these the one with the
  /// fewest lines that name one again, of these the one that names most files with their endings. Where two are as good
  /// and don't mean the same, it has to be said.
  std::string slide_column = {};
  /// The columns that become fields. Empty: all but `slide_column`, `group` and `mpp_column`.
  std::vector<std::string> columns = {};
  /// The column that says which slides belong together, a patient's say, for splits by group. Empty: each slide is a
  /// group.
  std::string group = {};
  /// The column that says how many micrometres a pixel of level 0 has, 0.05 to 20, in place of what the file says; a
  /// cell that is missing leaves it as it is. It becomes no field, unless `columns` names it. Empty: there is none.
  std::string mpp_column = {};
  /// How many micrometres a pixel of level 0 has, of slides that don't say it. 0: these can't be read by `mpp`, nor by
  /// `magnification` where they don't say that of level 0.
  double assumed_mpp = 0;
  /// What becomes of slides without a line in `labels`.
  enum class Unlisted : std::uint8_t {
    refuse,     ///< an error that lists them
    leave_out,  ///< they are left out
  };
  /// What becomes of slides without a line in `labels`.
  Unlisted unlisted = Unlisted::refuse;
  /// Places that are records, instead of those of a grid: a list for each slide; slides without one have no record.
  /// Where a place shows another part of a slide than a record would, that is the slide's error; so is a list that says
  /// that it is of a slide of another size. A place that is listed twice is one record. Records come row by row, or in
  /// squares of 8 x 8 strides, whatever the order of the list. 8 bytes a place are kept. Empty: places are those of a
  /// grid.
  std::vector<SlideCoords> coords = {};
  /// Places of any size are taken: records begin where they do.
  bool coords_of_any_size = false;
  /// Which places of a slide's grid are records: those that show tissue. The mask that tells is made when the slides
  /// are opened, on all cores: it takes the decoding of a low level of each, or of level 0 where there is no other.
  SlideTissue tissue = {};
  /// Which places are records by where they lie in regions, and which class they show. The files are read when the
  /// slides are opened, on all cores.
  SlideRegions regions = {};
  /// How each slide is stained, for `normalize_stain`. That is measured when the slides are opened, on all cores:
  /// it takes the decoding of some hundred squares of each.
  SlideStain stain = {};
  /// A saved index (`write_slide_index`) of these slides, made with the same options: what it says of a slide is taken
  /// from it, and no slide is opened before its first tile is read. All options have to be those that it was made with,
  /// but for `order`, those that only change speed, names of fields, and columns of `labels`; of lists of places and of
  /// tables with micrometres it has what they said. Each record of a slide is an error where the slide's file has
  /// another size, or other bytes in the parts that are compared. The constructor refuses an index that was made with
  /// other files of regions, other files of a DICOM series or a MIRAX slide, or another version of OpenSlide. Empty:
  /// slides are opened.
  std::string index = {};
  // What changes only speed.
  std::size_t max_open_files = 128;  ///< at a time; those that were read longest ago are closed. At least 1
  /// Bytes of memory in which places of tiles in their files are kept, 8 to 16 a tile, of all slides together; those of
  /// slides that have no room are read with each tile.
  std::size_t max_kept_bytes = std::size_t{32} << 20;
  /// Bytes of decoded tiles that OpenSlide may keep, of all slides together. Before its version 4 each open slide keeps
  /// up to 32 MiB, so fewer slides stay open then; at least one, and one for each thread that reads.
  std::size_t max_openslide_bytes = std::size_t{256} << 20;
};

/// What decodes a slide.
enum class SlideCodec : std::uint8_t {
  jpeg,       ///< its tiles are read here, and are JPEG
  jpeg2000,   ///< its tiles are read here, and are JPEG 2000
  openslide,  ///< OpenSlide is asked for pixels
};

/// A level that a slide's file has stored.
struct SlideLevel {
  std::int64_t width = 0, height = 0;            ///< pixels
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile of the file; 0: not known
  friend bool operator==(const SlideLevel&, const SlideLevel&) = default;
};

/// What is known about a slide.
struct SlideInfo {
  std::string path;                     ///< the file's path, as it was given, or found
  std::string name;                     ///< what its keys begin with
  std::int64_t width = 0, height = 0;   ///< pixels, at level 0
  std::vector<SlideLevel> levels = {};  ///< the levels that are stored, from the finest
  /// Why a level of `levels` can't be read, or some of the file are not among them; empty: none is known of.
  std::string missing_levels = {};
  /// Which other images of the file, each at least a quarter as large, are not read; empty: none is known of.
  std::string unread_images = {};
  double mpp_x = 0, mpp_y = 0;                     ///< micrometres a pixel, at level 0; 0: not known
  double magnification = 0;                        ///< magnification of the objective; 0: the file doesn't say it
  std::size_t level = 0;                           ///< the stored level that records are made of
  std::int64_t image_width = 0, image_height = 0;  ///< size of the image that the grid lies on, in pixels of records
  bool resampled = false;                          ///< that image is `level` made smaller; else it is `level`
  SlideCodec codec = SlideCodec::jpeg;             ///< how the file stores the pixels of `level`
  std::string why_openslide = {};                  ///< why OpenSlide reads it; empty: it does not
  /// The files that it is made of besides: of a MIRAX slide, and the others of a DICOM series.
  std::vector<std::string> other_files = {};
  /// The version of OpenSlide that was asked for it, "none" where there was none; of an index, when that was made.
  /// Empty: none is needed.
  std::string openslide = {};
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile of `level` in the file; 0: not known
  std::uint64_t places = 0;                      ///< how many places its grid has
  /// Its records in the source: places, but for those without tissue, or where `regions` wants none.
  std::uint64_t first = 0, records = 0;
  std::string region_file = {};  ///< the file with its regions; empty: there is none
  /// How it is stained; none: `Slides::stain` doesn't ask for it, or the slide has no record.
  std::optional<StainFit> stain = {};
  /// Each record is whole tiles of the file, which no other record needs: they are decoded right into the batch.
  bool whole_tiles = false;
  /// True where the slide is none of those that `Slides::first_file` and `file_count` have opened.
  bool passed_over = false;
  /// Why it can't be read; then it has one record, which is that error.
  std::optional<Error> failure = {};
};

/// Where a record lies.
struct SlidePlace {
  std::size_t slide = 0;                  ///< its number in `SlideSource::slides`
  std::int64_t x = 0, y = 0;              ///< its top left pixel, at level 0
  std::int64_t image_x = 0, image_y = 0;  ///< its top left pixel, in the image that the grid lies on
};

/// The records of slides. Opening reads each file's directories, its mask's level where `Slides::tissue` or `stain`
/// wants one, and some of its tissue where `stain` asks for it; what it keeps of a slide is a few hundred bytes, a bit
/// a place where there is a mask, and the places of its tiles, as far as `Slides::max_kept_bytes` has room. Immutable;
/// copies share open files and decoders; any thread.
///
/// Where records are whole tiles, and share none, they are decoded right into their rows. Else the tiles of the file
/// are blocks: a loader keeps decoded ones in `LoaderOptions::max_block_bytes`, and where one would not stay until it
/// is needed again, only the part that a record needs is decoded. `Pipeline::plan()` says which way slides go. Images
/// are promised (PromisedImage): a crop that follows has only its box decoded, and a filter on other fields, nothing.
///
/// What can go wrong with a tile is an error of the records that need it and of no other: an empty one (0 bytes), one
/// that lies beyond the file's end, damaged data, another size than the file says. Errors name the file, and the tile
/// by its level and its top left pixel there. Damage inside a tile is found where the tile is decoded whole; where a
/// part is, damage elsewhere in it is found with `check({.verify = true})` only. A slide that can't be opened at all is
/// one record, which is that error, so that the pipeline's `on_error` decides. A file whose size or time of change is
/// another than when it was opened is Error(io). One that was replaced is read as it was while it is open, and is that
/// error once it had to be opened again.
class PENSTOCK_API SlideSource {
 public:
  /// @throws Error(not_found) where no file has a name of the pattern, or `labels` isn't there; Error(invalid_argument)
  /// for options that can't work, a file that is given twice, by another name or a link too, slides without a line in
  /// `labels`, columns that aren't there, cells that are missing, and numbers that i64 and f32 don't hold;
  /// Error(corrupt) for a CSV file that isn't one.
  explicit SlideSource(Slides options);

  /// Number of records, of all slides together.
  std::uint64_t size() const noexcept;
  /// {image: u8[size, size, 3], slide: i64[], x: i64[], y: i64[], ...}.
  Schema schema() const;
  /// Number of blocks: tiles of slides whose records share them.
  std::uint64_t blocks() const noexcept;
  /// Bytes of a tile's pixels. @throws Error(not_found) past the end.
  std::uint64_t block_bytes(std::uint64_t block) const;
  /// Appends the tiles that a record needs, row by row; none where they are decoded into its row.
  /// @throws Error(not_found) past the end.
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const;
  /// True for all of them.
  bool can_do_without(std::uint64_t) const noexcept { return true; }
  /// Decodes a whole tile into `bytes`, u8 [tile_height, tile_width, 3], and checks it to its end. @throws the tile's
  /// error: Error(corrupt) for damaged data, Error(io) for a file that can't be read or was changed.
  void load(std::uint64_t block, std::span<std::byte> bytes) const;
  /// Promises the image. @throws the slide's error, where it can't be read.
  void read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "slide"; }
  /// The pattern, or the first path.
  std::string file() const;
  /// The slide's file. @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// "NAME/y_x", both with 6 digits, or as many as the slide's larger side has: keys of a slide ascend row by row.
  /// NAME is that of the file without ending (".ome.tif" is one); where two slides would have the same name, all have
  /// their paths below the folder that they have in common. @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// Where the record lies; nothing is read. @throws Error(not_found) past the end.
  SlidePlace place(std::uint64_t index) const;
  /// Hash of the slides' names, sizes and files' sizes, of what `labels` says of them, and of the options that change
  /// results.
  std::uint64_t identity() const noexcept;
  /// Hash of the files' sizes and some of their bytes, as they were opened.
  std::uint64_t revision() const noexcept;
  /// Rows of the grid, or squares. @throws Error(limit_exceeded) for more than 2^27 of them.
  std::vector<std::uint64_t> block_ends() const;
  /// The values of a field of whole numbers, one for each record; nothing is decoded. None for other fields.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
  /// The slides, or what `Slides::group` says of them.
  std::vector<Group> groups() const;
  /// How slides are read, which can't be, and what that means for damage.
  std::vector<std::string> notes() const;
  /// A line for each way in which a file, or a line of `labels`, becomes no record: slides without a line, slides that
  /// are smaller than `size`, lines of slides that are not there. Also said is where lines name slides in a folder in
  /// which none lies, which column was taken for the slides' names where others might be meant, and which columns of
  /// numbers became classes; and which regions were moved by OpenSlide's bounds. `notes` has these lines too.
  std::vector<std::string> left_out() const;

  /// A view of the records that have one of these values in a field: `slide`, a column of whole numbers or classes, or
  /// `regions.field`. It keeps a bit a place, and shares open files and decoders. Views of one index, or cohort, are
  /// what `mix` draws classes in equal parts from, without memory for each record. Slides that can't be read are in a
  /// view by their columns; by `regions.field` they are in each one. @throws Error(invalid_argument) for another field.
  SlideSource only(std::string_view field, std::initializer_list<std::int64_t> values) const;
  /// A view of the records that have one of the classes with these names in a field. @throws Error(not_found) for a
  /// class that the field has not; otherwise as `only` by values.
  SlideSource only(std::string_view field, std::initializer_list<std::string_view> names) const;

  /// The options as they were given, with `stride` as it is, and without `coords`. Valid as long as a copy of the
  /// source is.
  const Slides& options() const noexcept;
  /// What each slide is, in the order in which they were given or found. Valid as long as a copy of the source is.
  const std::vector<SlideInfo>& slides() const noexcept;

 private:
  friend class SlideDrawing;
  class Impl;
  explicit SlideSource(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
