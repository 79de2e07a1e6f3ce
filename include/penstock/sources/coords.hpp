#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock {

/// Lists of places as CLAM and TRIDENT keep them, an HDF5 file for each slide, for `Slides::coords`:
///
///     from(Slides{.files = "cohort/*.svs", .size = 256, .coords = read_coords("clam/patches")})
///
/// `path` is such a file, or a folder: its files that end in `.h5` and those of folders in it, sorted by their paths'
/// bytes; where it has none itself, and its folder `patches` has some, those alone. Links to folders are followed, and
/// no folder is walked twice; files and folders that begin with a dot are passed over. A list is of the slide whose
/// name the file has, with the folders that it lies in.
///
/// A file has the dataset `coords`, whole numbers [N, 2]: x and y at level 0. How large a place is follows from the
/// dataset's attributes: `patch_size_level0`, or `patch_size`, `level0_magnification` and `target_magnification`
/// (TRIDENT's), or `patch_size` and `patch_level` (CLAM's), and `custom_downsample` where it is there; where none of
/// these are, it isn't said. How large the slide is follows from `level0_width` and `level0_height` (TRIDENT's), or
/// from `level_dim` and `downsample` (CLAM's). Files of features with such a dataset do as well. Files are read on all
/// cores.
///
/// @throws Error(not_found) where there is no such file, or no `coords` in one; Error(invalid_argument) for a.h5
/// beside a.H5, two files of one slide; Error(limit_exceeded) for a file of more than 134 million places;
/// Error(unsupported) for `coords` of another form, and for CLAM's older files with images in them, whose places count
/// pixels of another level; Error(corrupt) for places beyond 2^31; Error(corrupt | io) for what can't be read.
PENSTOCK_API std::vector<SlideCoords> read_coords(const std::string& path);

/// What `write_coords` did.
struct WrittenCoords {
  std::uint64_t slides = 0, places = 0;  ///< slides and places that were written
  std::vector<std::string> notes;        ///< what could not be said in which form, and why
};

/// Writes where the records of slides lie, for CLAM and TRIDENT. Nothing is decoded.
///
/// CLAM's are `folder`/patches/NAME.h5, and TRIDENT's `folder`/20x_256px_0px_overlap/patches/NAME_patches.h5, with the
/// magnification, size and overlap there that records have. NAME is that of the slide's file without the last ending,
/// as both call a slide, in the folders that are in its name. For CLAM a slide without records has no file, and a
/// list that is there goes; for TRIDENT it has an empty list.
///
/// Both call `patch_size` the size of a place, but CLAM counts pixels of a stored level, and TRIDENT those at the
/// target magnification. Where records are of a stored level the two are the same, and both names lead to one file,
/// with the attributes of both; where records are made smaller there are two, and CLAM's has places of level 0. What
/// TRIDENT calls magnifications are whole numbers: `SlideInfo::magnification`, or that which `Slides::magnification`
/// takes for the slide's micrometres a pixel; where a slide says neither, or its records have no magnification that is
/// whole within 2 %, it has no file for TRIDENT, and a note.
///
/// Files that are there are replaced, each as a whole. With `sync` they last through a power cut. For slides that can't
/// be read nothing is written, or taken away, and there is a note; those that were passed over are left alone. @throws
/// Error(io | not_found) where a file can't be written.
PENSTOCK_API WrittenCoords write_coords(const SlideSource& source, const std::string& folder, bool sync = true);

}  // namespace penstock
