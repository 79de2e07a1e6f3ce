// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/elsewhere_files.hpp"

namespace penstock_test {

namespace {

H5Id space_of(const std::vector<hsize_t>& shape, bool grows) {
  std::vector<hsize_t> most = shape;
  if (grows) most.front() = H5S_UNLIMITED;
  return H5Id(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()));
}

void select(hid_t space, const H5Slab& slab) {
  if (slab.start.empty()) return;
  h5_must(
      H5Sselect_hyperslab(space, H5S_SELECT_SET, slab.start.data(), slab.stride.empty() ? nullptr : slab.stride.data(),
                          slab.count.data(), slab.block.empty() ? nullptr : slab.block.data()),
      "H5Sselect_hyperslab");
}

}  // namespace

void write_virtual(hid_t file, const H5Virtual& data) {
  const H5Id creation(H5Pcreate(H5P_DATASET_CREATE)), type = stored_type(data.type);
  h5_must(H5Pset_layout(creation, H5D_VIRTUAL));
  if (!data.fill.empty()) h5_must(H5Pset_fill_value(creation, type, data.fill.data()));
  for (const H5Mapping& mapping : data.mappings) {
    const H5Id to = space_of(data.shape, data.grows), from = space_of(mapping.source_shape, mapping.source_grows);
    select(to, mapping.to);
    select(from, mapping.from);
    h5_must(H5Pset_virtual(creation, to, mapping.file.c_str(), mapping.dataset.c_str(), from), "H5Pset_virtual");
  }
  const H5Id space = space_of(data.shape, data.grows), links(H5Pcreate(H5P_LINK_CREATE));
  h5_must(H5Pset_create_intermediate_group(links, 1));
  const H5Id dataset(H5Dcreate2(file, data.path.c_str(), type, space, links, creation, H5P_DEFAULT), "H5Dcreate");
}

void write_external(hid_t file, const std::string& path, const H5Type& type, const std::vector<hsize_t>& shape,
                    const std::vector<H5RawFile>& raw) {
  const H5Id creation(H5Pcreate(H5P_DATASET_CREATE)), space = space_of(shape, false);
  for (const H5RawFile& piece : raw)
    h5_must(H5Pset_external(creation, piece.file.c_str(), piece.offset, piece.bytes), "H5Pset_external");
  const H5Id dataset(H5Dcreate2(file, path.c_str(), stored_type(type), space, H5P_DEFAULT, creation, H5P_DEFAULT),
                     "H5Dcreate");
}

}  // namespace penstock_test
