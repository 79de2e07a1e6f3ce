// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/coords_file.hpp>

#include <algorithm>
#include <cstddef>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "library/errors.hpp"
#include "library/library.hpp"
#include "sink/feature_attribute.hpp"
#include "sink/writing_driver.hpp"

namespace penstock {

using hdf5::Handle;

namespace {

// Writes the file under its temporary name. Call under the lock.
void write_partial(const std::string& path, std::span<const std::array<std::int64_t, 2>> coords,
                   const std::vector<FeatureAttribute>& attributes) {
  hdf5::WritingDriver driver(path, 0);
  const auto must = [&](bool done) {
    if (done && driver.failure() == 0) return;
    if (driver.failure() != 0) throw hdf5::write_error(driver.failure(), "writing coords", path, coords.size_bytes());
    throw hdf5::error_in(path, Errc::io, "writing coords: " + hdf5::library_says());
  };
  std::string said;
  Handle file = driver.create(said);
  if (!file && driver.failure() == 0) throw hdf5::error_in(path, Errc::io, "the file can't be made: " + said);
  must(static_cast<bool>(file));
  {
    constexpr hsize_t rows_a_chunk = 1024;
    const std::array<hsize_t, 2> size{coords.size(), 2}, most{H5S_UNLIMITED, 2}, chunk{rows_a_chunk, 2};
    const Handle space = hdf5::own_space(H5Screate_simple(2, size.data(), most.data()));
    const Handle creation = hdf5::own_list(H5Pcreate(H5P_DATASET_CREATE));
    must(space && creation && H5Pset_chunk(creation.get(), 2, chunk.data()) >= 0 &&
         H5Pset_obj_track_times(creation.get(), false) >= 0);
    const Handle dataset(
        H5Dcreate2(file.get(), "coords", H5T_STD_I64LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        H5Dclose);
    must(static_cast<bool>(dataset));
    if (!coords.empty())
      must(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, coords.data()) >= 0);
    for (const FeatureAttribute& attribute : attributes) must(hdf5::write_attribute(dataset.get(), attribute) >= 0);
  }
  must(H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0);
  file = {};
  must(true);
}

}  // namespace

void write_coords_file(const std::string& path, std::span<const std::array<std::int64_t, 2>> coords,
                       const std::vector<FeatureAttribute>& attributes, bool sync) {
  for (std::size_t i = 0; i < attributes.size(); ++i)
    for (std::size_t before = 0; before < i; ++before)
      if (attributes[before].name == attributes[i].name)
        throw hdf5::error_in(path, Errc::invalid_argument,
                             "two attributes are named \"" + printable(attributes[i].name) + "\"");
  const std::string partial = path + ".partial";
  OutputFile(partial, 0, hdf5::source_name).close();  // empties a file that an earlier run has left
  {
    const hdf5::LibraryLock lock;
    write_partial(partial, coords, attributes);
  }
  if (sync) sync_file(partial, hdf5::source_name);
  rename_file(partial, path, hdf5::source_name);
  if (sync) sync_folder_of(path, hdf5::source_name);
}

}  // namespace penstock
