// SPDX-License-Identifier: Apache-2.0
#include "sink/feature_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "library/errors.hpp"
#include "library/open_file.hpp"
#include "sink/feature_attribute.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

namespace {

constexpr const char* feature_job = "penstock_job";
constexpr hsize_t coords_a_chunk = 1024;
constexpr std::size_t usual_cache = 1u << 20;

Handle number_type_of(DType dtype) {
  StoredDataset numbers;
  numbers.dtype = dtype;
  return stored_type(numbers);
}

}  // namespace

FeatureFile::FeatureFile(std::string file, const FeatureSinkOptions& options, std::vector<FeatureAttribute> attributes,
                         std::string slide)
    : path_(std::move(file)),
      slide_(std::move(slide)),
      options_(options),
      attributes_(std::move(attributes)),
      driver_(path_, 0) {
  facts_.dtype = options.dtype;
  facts_.job = options.job;
  const LibraryLock lock;
  std::string said;
  file_ = driver_.create(said);
  if (!file_) {
    if (driver_.failure() != 0) throw write_error(driver_.failure(), "making the file", path_, 0);
    throw error_in(path_, Errc::io, "the file can't be made: " + said);
  }
}

FeatureFile::~FeatureFile() {
  const LibraryLock lock;
  features_ = {};
  coords_ = {};
  file_ = {};
}

void FeatureFile::must(herr_t status, const char* doing) const {
  if (status >= 0 && driver_.failure() == 0) return;
  if (driver_.failure() != 0) throw write_error(driver_.failure(), doing, path_, 0);
  throw error_in(path_, Errc::io, std::string(doing) + ": " + library_says());
}

Handle FeatureFile::must(Handle handle, const char* doing) const {
  must(handle ? 0 : -1, doing);
  return handle;
}

void FeatureFile::make(std::uint64_t dimension) {
  const char* const doing = "making the datasets";
  const auto dataset = [&](const char* name, DType dtype, hsize_t width, hsize_t chunk_rows) {
    const std::array<hsize_t, 2> none{0, width}, most{H5S_UNLIMITED, width == 0 ? H5S_UNLIMITED : width},
        chunk{chunk_rows, std::max<hsize_t>(width, 1)};
    const Handle space = must(own_space(H5Screate_simple(2, none.data(), most.data())), doing);
    const Handle type = must(number_type_of(dtype), doing);
    const Handle creation = must(own_list(H5Pcreate(H5P_DATASET_CREATE)), doing);
    must(H5Pset_chunk(creation.get(), 2, chunk.data()), doing);
    must(H5Pset_obj_track_times(creation.get(), false), doing);
    // The cache has room for at least two chunks. So a chunk that is written in parts stays in memory until it is full.
    const Handle access = must(own_list(H5Pcreate(H5P_DATASET_ACCESS)), doing);
    const std::size_t cache = std::max<std::size_t>(usual_cache, 2 * chunk[0] * chunk[1] * size_of(dtype));
    must(H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, cache, H5D_CHUNK_CACHE_W0_DEFAULT), doing);
    return must(
        {H5Dcreate2(file_.get(), name, type.get(), space.get(), H5P_DEFAULT, creation.get(), access.get()), H5Dclose},
        doing);
  };
  features_ = dataset("features", options_.dtype, dimension, options_.chunk_rows);
  coords_ = dataset("coords", DType::i64, 2, coords_a_chunk);
  facts_.dimension = dimension;

  const auto attribute = [&](hid_t object, const FeatureAttribute& given) {
    must(write_attribute(object, given), doing);
  };
  const FeatureAttribute name{"name", slide_};
  for (const FeatureAttribute& given : attributes_) attribute(coords_.get(), given);
  if (std::ranges::find(attributes_, name.name, &FeatureAttribute::name) == attributes_.end())
    attribute(coords_.get(), name);
  attribute(features_.get(), name);
  if (!options_.encoder.empty()) attribute(features_.get(), {"encoder", options_.encoder});
  attribute(file_.get(), {feature_job, options_.job});
}

void FeatureFile::put(const TensorView& features, const TensorView& coords) {
  const auto refuse = [&](const std::string& why) {
    throw error_in(path_, Errc::schema_mismatch,
                   why + "; it takes features f32 or f16 [n, D] and coords i64 [n, 2], D the same in a slide");
  };
  const Shape &f = features.shape, &c = coords.shape;
  if ((features.dtype != DType::f32 && features.dtype != DType::f16) || f.rank() != 2 || f[1] < 1)
    refuse("the features are " + std::string(to_string(features.dtype)) + f.to_string());
  if (coords.dtype != DType::i64 || c.rank() != 2 || c[1] != 2 || c[0] != f[0])
    refuse("the coords are " + std::string(to_string(coords.dtype)) + c.to_string() + " beside features " +
           f.to_string());
  refuse_beyond_half(features);
  const LibraryLock lock;
  if (!features_) make(static_cast<std::uint64_t>(f[1]));
  if (static_cast<std::uint64_t>(f[1]) != facts_.dimension)
    refuse("features of " + std::to_string(f[1]) + " come after some of " + std::to_string(facts_.dimension));
  if (f[0] == 0) return;
  append(features_.get(), number_type_of(features.dtype).get(), features);
  append(coords_.get(), number_type_of(DType::i64).get(), coords);
  facts_.features += static_cast<std::uint64_t>(f[0]);
}

void FeatureFile::refuse_beyond_half(const TensorView& features) const {
  if (options_.dtype != DType::f16 || features.dtype != DType::f32) return;
  constexpr float first_infinite = 65520;  // the smallest number that rounds to infinity in f16
  const std::span<const float> values(reinterpret_cast<const float*>(features.data), features.shape.elements());
  const auto beyond = std::ranges::find_if(
      values, [](float value) { return std::abs(value) >= first_infinite && std::isfinite(value); });
  if (beyond == values.end()) return;
  const std::int64_t at = beyond - values.begin(), width = features.shape[1];
  throw error_in(path_, Errc::invalid_argument,
                 "row " + std::to_string(at / width) + " of the features has " + std::to_string(*beyond) +
                     " in column " + std::to_string(at % width) +
                     ", which f16 does not hold: store f32, or make the values smaller");
}

void FeatureFile::append(hid_t dataset, hid_t type, const TensorView& rows) {
  const char* const doing = "writing features";
  const std::array<hsize_t, 2> count{static_cast<hsize_t>(rows.shape[0]), static_cast<hsize_t>(rows.shape[1])};
  const std::array<hsize_t, 2> first{facts_.features, 0}, all{facts_.features + count[0], count[1]};
  must(H5Dset_extent(dataset, all.data()), doing);
  const Handle there = must(own_space(H5Dget_space(dataset)), doing);
  must(H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr), doing);
  const Handle here = must(own_space(H5Screate_simple(2, count.data(), nullptr)), doing);
  must(H5Dwrite(dataset, type, here.get(), there.get(), H5P_DEFAULT, rows.data), doing);
}

FeatureFacts FeatureFile::close() {
  const LibraryLock lock;
  if (!features_) make(0);
  features_ = {};
  coords_ = {};
  must(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "writing the file");
  file_ = {};
  must(driver_.failure() == 0 ? 0 : -1, "writing the file");
  return facts_;
}

FeatureFacts read_feature_file(const std::string& path) {
  const LibraryLock lock;
  const Handle file = open_written_file(path);
  const Handle data(H5Dopen2(file.get(), "features", H5P_DEFAULT), H5Dclose);
  const Handle space = own_space(data ? H5Dget_space(data.get()) : -1);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  if (!space || H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr) != 2)
    throw error_in(path, Errc::corrupt, "the file has no dataset `features` [N, D]; delete it, or move it elsewhere");
  FeatureFacts facts{.features = dims[0], .dimension = dims[1], .dtype = DType::f32, .job = {}};
  const Handle type = own_type(H5Dget_type(data.get()));
  facts.dtype = H5Tget_size(type.get()) == size_of(DType::f16) ? DType::f16 : DType::f32;
  if (H5Aexists(file.get(), feature_job) <= 0) return facts;
  const Handle job(H5Aopen(file.get(), feature_job, H5P_DEFAULT), H5Aclose);
  const Handle stored = own_type(H5Aget_type(job.get())), text = text_type();
  char* value = nullptr;
  if (H5Tis_variable_str(stored.get()) > 0 && H5Aread(job.get(), text.get(), &value) >= 0 && value != nullptr) {
    facts.job = value;
    H5free_memory(value);
  }
  return facts;
}

}  // namespace penstock::hdf5
