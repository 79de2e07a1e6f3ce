// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock {

/// Reads lists of places for `Slides::coords`, as CLAM and TRIDENT keep them, in an HDF5 file for each slide:
///
///     from(Slides{.files = "cohort/*.svs", .size = 256, .coords = read_coords("clam/patches")})
///
/// `path` is such a file, or a folder. In a folder, all files that end in `.h5` are read, also those in its folders,
/// sorted by their paths' bytes. If a folder has no such file itself, but its folder `patches` has some, only these are
/// read. Links to folders are followed, and no folder is read twice. Files and folders whose names begin with a dot are
/// skipped. The name of a file, with the folders that it is in, is the name of its slide.
///
/// A file has the dataset `coords`, whole numbers [N, 2]: x and y at level 0. Files of features with such a dataset can
/// be read too. Attributes of the dataset give the size of a place:
/// - `patch_size_level0`;
/// - or `patch_size`, `level0_magnification` and `target_magnification` (TRIDENT's);
/// - or `patch_size` and `patch_level` (CLAM's), and `custom_downsample` if it exists.
///
/// Without these, the size is not known. The size of the slide comes from `level0_width` and `level0_height`
/// (TRIDENT's), or from `level_dim` and `downsample` (CLAM's). All cores read files.
///
/// @throws Error(not_found) if there is no such file, or a file has no `coords`.
/// @throws Error(invalid_argument) if two files are of the same slide (a.h5 and a.H5).
/// @throws Error(limit_exceeded) if a file has more than 134 million places.
/// @throws Error(unsupported) if `coords` has another form, or the file is one of CLAM's older files with images, whose
/// places count pixels of another level.
/// @throws Error(corrupt) if a place is beyond 2^31; Error(corrupt | io) if a file can't be read.
PENSTOCK_API std::vector<SlideCoords> read_coords(const std::string& path);

/// What `write_coords` did.
struct WrittenCoords {
  std::uint64_t slides = 0, places = 0;  ///< slides and places that were written
  std::vector<std::string> notes;        ///< what could not be written, in which form, and why
};

/// Writes the places of the records of slides, for CLAM and TRIDENT. Decodes nothing.
///
/// CLAM's files are `folder`/patches/NAME.h5. TRIDENT's are `folder`/20x_256px_0px_overlap/patches/NAME_patches.h5,
/// with the magnification, size and overlap of the records in that name. NAME is the name of the slide's file without
/// the last ending, as both programs call a slide, in the folders that are in its name. If a slide has no records, it
/// gets no file for CLAM, and an existing list is removed. For TRIDENT it gets an empty list.
///
/// Both programs call the size of a place `patch_size`. CLAM counts pixels of a stored level, and TRIDENT pixels at the
/// target magnification. If records come from a stored level, the two are the same. Both names then lead to one file,
/// which has the attributes of both. If records are made smaller, there are two files, and CLAM's has places of level
/// 0.
///
/// TRIDENT's magnifications are whole numbers: `SlideInfo::magnification`, or the one that `Slides::magnification`
/// assumes for the slide's micrometres per pixel. A slide gets a note, and no file for TRIDENT, if it has neither, or
/// if the magnification of its records is not whole within 2 %.
///
/// Replaces existing files, each as a whole. With `sync`, they survive a power cut. For slides that can't be read it
/// writes a note, and neither writes nor removes files. It ignores slides that `Slides::first_file` excludes.
/// @throws Error(io | not_found) if a file can't be written.
PENSTOCK_API WrittenCoords write_coords(const SlideSource& source, const std::string& folder, bool sync = true);

}  // namespace penstock
