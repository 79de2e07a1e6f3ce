// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock {

/// Reads lists of places for `Slides::coords` from the HDF5 files of CLAM and TRIDENT, one file per slide:
///
///     from(Slides{.files = "cohort/*.svs", .size = 256, .coords = read_coords("clam/patches")})
///
/// `path` is one of these files, or a folder. In a folder and its subfolders, all files that end in `.h5` are read,
/// sorted by their paths' bytes. If the folder itself has no such file, and its subfolder `patches` has some, at any
/// depth, only the files of `patches` are read. Links to folders are followed, and no folder is read twice. Files and
/// folders are skipped if their names begin with a dot, or if systems give such names to their own files
/// (`is_of_system`). A slide's name is the path of its file below the folder that is read, without the ending. If
/// `path` is a file, the slide's name is the name of this file without the ending.
///
/// Each file has the dataset `coords`, whole numbers [N, 2]: x and y at level 0. Files of features that have this
/// dataset can be read too. Attributes of the dataset give the size of a place:
/// - `patch_size_level0`;
/// - or `patch_size`, `level0_magnification` and `target_magnification` (TRIDENT's);
/// - or `patch_size` and `patch_level` (CLAM's), and `custom_downsample` if it exists.
///
/// Without these attributes, the size of a place is not known. The size of the slide comes from the attributes
/// `level0_width` and `level0_height` (TRIDENT's), or `level_dim`, `downsample` and `patch_level` (CLAM's). All cores
/// read files.
///
/// @throws Error(not_found) if `path` does not exist or has no such file, or a file has no `coords`.
/// @throws Error(invalid_argument) if two files are of the same slide (a.h5 and a.H5).
/// @throws Error(limit_exceeded) if a file has more than 134 million places.
/// @throws Error(unsupported) if `coords` does not have the form above, or the file is one of CLAM's older files with
/// images, whose places count pixels of another level.
/// @throws Error(corrupt) if a coordinate is beyond 2^31, or the attributes give an impossible level or size of places.
/// @throws Error(corrupt | io) if a file can't be read.
PENSTOCK_API std::vector<SlideCoords> read_coords(const std::string& path);

/// What `write_coords` did.
struct WrittenCoords {
  std::uint64_t slides = 0, places = 0;  ///< numbers of slides and places that were written
  /// Says which slides have no list, or no list for TRIDENT, and why. Also names files that would have been removed,
  /// but stay because they are not lists.
  std::vector<std::string> notes;
};

/// Writes the places of the source's records in files for CLAM and for TRIDENT. Decodes nothing.
///
/// CLAM's files are `folder`/patches/NAME.h5. TRIDENT's are, for instance,
/// `folder`/20x_256px_0px_overlap/patches/NAME_patches.h5, in a folder that is named by the records' magnification,
/// size and overlap. NAME is what both programs call a slide: the name of its file without the last ending. If the
/// slide's name has folders, NAME begins with these folders. If a slide has no records, an existing list for CLAM is
/// removed, and the list for TRIDENT is empty.
///
/// Both programs call the size of a place `patch_size`. For CLAM, `patch_size` counts pixels of a stored level. For
/// TRIDENT, it counts pixels at the target magnification. If records come from a stored level, both numbers are the
/// same. Then there is only one file, which has both names (by a hard link) and the attributes of both programs. If the
/// file system has no hard links, or if records are made smaller, there are two files. If records are made smaller,
/// `patch_size` in CLAM's file counts pixels of level 0.
///
/// TRIDENT's magnifications are whole numbers. A slide has the magnification `SlideInfo::magnification`, rounded. If
/// this is 0, the slide has the magnification that `Slides::magnification` assumes for its micrometres per pixel, if
/// that magnification is 5 or more. A slide gets a note, and no file for TRIDENT, if it has neither magnification, or
/// if the magnification of its records is not whole within 2 %.
///
/// Replaces existing files, each as a whole. With `sync`, the new files survive a power cut. A slide that can't be read
/// gets a note; its files are neither written nor removed. Slides that `Slides::first_file` and `Slides::file_count`
/// exclude are ignored.
/// @throws Error(io | not_found) if a file can't be written.
PENSTOCK_API WrittenCoords write_coords(const SlideSource& source, const std::string& folder, bool sync = true);

}  // namespace penstock
