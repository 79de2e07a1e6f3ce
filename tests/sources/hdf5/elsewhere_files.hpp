// SPDX-License-Identifier: Apache-2.0
// HDF5 files whose values lie in other files, made with HDF5's own C API.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "sources/hdf5/files.hpp"

namespace penstock_test {

// Places along each dimension, as H5Sselect_hyperslab takes them.
struct H5Slab {
  std::vector<hsize_t> start, count, stride = {}, block = {};
};

// One mapping of a virtual dataset.
struct H5Mapping {
  std::string file, dataset;
  H5Slab to;
  std::vector<hsize_t> source_shape;  // as it is when the mapping is made
  H5Slab from = {};                   // nothing: all of it
  bool source_grows = false;          // without limit along its first dimension
};

struct H5Virtual {
  std::string path;
  std::vector<hsize_t> shape;
  std::vector<H5Mapping> mappings;
  bool grows = false;  // without limit along its first dimension
  H5Type type = h5_integer(4, true);
  std::vector<char> fill = {};
};

void write_virtual(hid_t file, const H5Virtual& data);

// A piece of a dataset in a file of raw bytes.
struct H5RawFile {
  std::string file;
  off_t offset = 0;
  hsize_t bytes = H5F_UNLIMITED;
};
void write_external(hid_t file, const std::string& path, const H5Type& type, const std::vector<hsize_t>& shape,
                    const std::vector<H5RawFile>& raw);

}  // namespace penstock_test
