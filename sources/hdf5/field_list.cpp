#include "field_list.hpp"

#include <algorithm>
#include <cstdint>

#include <penstock/error.hpp>

#include "dataset.hpp"
#include "element.hpp"
#include "errors.hpp"

namespace penstock::hdf5 {

namespace {

struct Found {
  std::string path;
  std::uint64_t rows = 0;
  std::string shape;
};

std::vector<std::string> dataset_paths(const File& file) {
  std::vector<std::string> paths;
  const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* data) -> herr_t {
    try {
      if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(data)->emplace_back(name);
      return 0;
    } catch (...) {
      return -1;  // out of memory
    }
  };
  if (H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, &paths, H5O_INFO_BASIC) < 0)
    throw error_in(file.path(), Errc::corrupt, "the file's objects can't be listed: " + library_says());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string list(const std::vector<Found>& found) {
  std::string text;
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < found.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + found[i].path + " " + found[i].shape;
  if (found.size() > most) text += " and " + std::to_string(found.size() - most) + " more";
  return text;
}

}  // namespace

std::string field_name(const Hdf5Field& field) {
  if (!field.name.empty()) return field.name;
  std::string name = field.dataset;
  name.erase(0, name.find_first_not_of('/'));
  if (!field.member.empty()) name += "/" + field.member;
  return name;
}

std::vector<Hdf5Field> all_fields(const File& file) {
  const LibraryLock lock;
  std::vector<Hdf5Field> fields;
  std::vector<Found> found;
  for (const std::string& path : dataset_paths(file)) {
    const Handle dataset(H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset)
      throw error_in(file.path(), Errc::corrupt, "dataset '" + path + "' can't be opened: " + library_says());
    const Handle space = own_space(H5Dget_space(dataset.get()));
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 1) continue;
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
    const std::vector<std::uint64_t> sizes(dims.begin(), dims.end());
    found.push_back({path, sizes.front(), text_of(sizes)});
    const Handle type = own_type(H5Dget_type(dataset.get()));
    for (const std::string& member : members_of(type.get())) fields.push_back({.dataset = path, .member = member});
  }
  if (found.empty())
    throw error_in(file.path(), Errc::schema_mismatch, "the file has no dataset with a dimension that counts records");
  for (const Found& f : found)
    if (f.rows != found.front().rows)
      throw error_in(file.path(), Errc::schema_mismatch,
                     "the file's datasets do not count the same records: " + list(found) +
                         "; name in `fields` those that belong together");
  return fields;
}

}  // namespace penstock::hdf5
