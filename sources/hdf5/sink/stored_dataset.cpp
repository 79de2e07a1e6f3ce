// SPDX-License-Identifier: Apache-2.0
#include "sink/stored_dataset.hpp"

#include <algorithm>
#include <limits>

#include <penstock/error.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::hdf5 {

namespace {

constexpr std::uint64_t usual_chunk_bytes = 1u << 20, max_usual_rows = 1u << 14, usual_reference_rows = 1024;
constexpr std::uint64_t max_chunk_bytes = 1u << 30;
constexpr unsigned highest_level = 12;

[[noreturn]] void refuse(Errc code, const std::string& why) { throw Error(code, why); }

void check_path(const std::string& path, const std::string& what) {
  bool good = !path.empty() && path.find('\0') == std::string::npos;
  for (std::size_t at = 0; good && at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    good = !part.empty() && part != ".";
    at = end + 1;
  }
  if (!good)
    refuse(Errc::invalid_argument, what + " would become the dataset \"" + printable(path) +
                                       "\", which is no path in an HDF5 file: parts between '/' that are neither empty "
                                       "nor \".\"; give another one in `fields`");
}

void check_paths(const std::vector<StoredDataset>& datasets) {
  for (const StoredDataset& a : datasets)
    for (const StoredDataset& b : datasets) {
      if (&a == &b) continue;
      if (a.path == b.path)
        refuse(Errc::invalid_argument,
               "two fields would become the dataset \"" + printable(a.path) + "\"; give one another in `fields`");
      if (b.path.starts_with(a.path + "/"))
        refuse(Errc::invalid_argument, "\"" + printable(a.path) + "\" would be a dataset, and the group of \"" +
                                           printable(b.path) + "\"; give one another name in `fields`");
    }
}

unsigned checked_level(unsigned level) {
  if (level > highest_level)
    refuse(Errc::invalid_argument, "`deflate` is " + std::to_string(level) + "; levels are 0, none, to 12");
  return level;
}

void plan_shape(StoredDataset& dataset, const Field& field) {
  const std::string name = "the field \"" + printable(field.name) + "\" of shape " + field.shape.to_string();
  if (field.dtype == DType::bf16)
    refuse(Errc::unsupported, name + " is bf16, which no reader of HDF5 knows; cast it to f32 or f16 before");
  if (!field.shape.fixed()) {
    if (field.shape.rank() != 1)
      refuse(Errc::unsupported, name +
                                    " can't be stored, as HDF5 has sequences of one dimension only; let a map give it "
                                    "a fixed shape, or make it one-dimensional");
    dataset.kind = StoredDataset::Kind::sequences;
    dataset.row_bytes = reference_bytes;
    return;
  }
  dataset.row_bytes = size_of(field.dtype);
  for (std::size_t axis = 0; axis < field.shape.rank(); ++axis) {
    if (field.shape[axis] == 0)
      refuse(Errc::unsupported, name + " has no values, and HDF5 no chunks of none; leave it out by select_fields");
    dataset.dims.push_back(static_cast<std::uint64_t>(field.shape[axis]));
    if (dataset.dims.back() > max_chunk_bytes / dataset.row_bytes)
      refuse(Errc::unsupported, name + " can't be stored, as a record would have more than 1 GiB");
    dataset.row_bytes *= static_cast<std::size_t>(dataset.dims.back());
  }
}

void plan_chunks(StoredDataset& dataset, std::uint64_t wanted, std::uint64_t rows) {
  if (wanted != 0 && wanted > max_chunk_bytes / dataset.row_bytes)
    refuse(Errc::invalid_argument, "chunks of " + std::to_string(wanted) + " rows of \"" + printable(dataset.path) +
                                       "\" have more than 1 GiB; give fewer");
  dataset.chunk_rows = wanted;
  if (wanted != 0) return;
  dataset.chunk_rows = dataset.varies()
                           ? usual_reference_rows
                           : std::min<std::uint64_t>(usual_chunk_bytes / dataset.row_bytes, max_usual_rows);
  dataset.chunk_rows = std::max<std::uint64_t>(std::min(dataset.chunk_rows, rows), 1);
}

}  // namespace

std::vector<StoredDataset> plan_datasets(const Hdf5SinkOptions& options, const Schema& schema, std::uint64_t size) {
  if (schema.size() == 0) refuse(Errc::invalid_argument, "samples without fields can't be stored");
  const std::uint64_t rows = std::min(size, options.single_file ? unknown_size : options.max_samples);
  for (std::size_t i = 0; i < options.fields.size(); ++i) {
    static_cast<void>(schema.slot(options.fields[i].field));
    for (std::size_t j = 0; j < i; ++j)
      if (options.fields[i].field == options.fields[j].field)
        refuse(Errc::invalid_argument, "`fields` names \"" + printable(options.fields[i].field) + "\" twice");
  }
  std::vector<StoredDataset> datasets;
  for (std::size_t slot = 0; slot < schema.size(); ++slot) {
    const Field& field = schema[slot];
    Hdf5SinkField given{.field = field.name};
    for (const Hdf5SinkField& one : options.fields)
      if (one.field == field.name) given = one;
    StoredDataset dataset;
    dataset.path = given.dataset.empty() ? field.name : given.dataset;
    if (dataset.path.starts_with('/')) dataset.path.erase(0, 1);
    dataset.dtype = field.dtype;
    dataset.slot = slot;
    dataset.classes = field.classes;
    for (const std::string& name : field.classes)
      if (name.find('\0') != std::string::npos)
        refuse(Errc::invalid_argument, "the class \"" + printable(name) + "\" has a NUL, where HDF5's strings end");
    check_path(dataset.path, "the field \"" + printable(field.name) + "\"");
    plan_shape(dataset, field);
    plan_chunks(dataset, given.chunk_rows, rows);
    if (!dataset.varies()) {
      dataset.deflate = checked_level(given.deflate.value_or(options.deflate));
      const bool helps = dataset.deflate != 0 && size_of(field.dtype) > 1;
      dataset.shuffle = given.shuffle.value_or(options.shuffle.value_or(helps));
      dataset.fletcher32 = given.fletcher32.value_or(options.fletcher32);
    }
    datasets.push_back(std::move(dataset));
  }
  if (!options.keys.empty()) {
    StoredDataset keys;
    keys.path = options.keys.starts_with('/') ? options.keys.substr(1) : options.keys;
    check_path(keys.path, "`keys`");
    keys.kind = StoredDataset::Kind::texts;
    keys.row_bytes = reference_bytes;
    plan_chunks(keys, 0, rows);
    datasets.push_back(std::move(keys));
  }
  check_paths(datasets);
  return datasets;
}

std::string text_of(const std::vector<StoredDataset>& datasets) {
  std::string text;
  for (const StoredDataset& dataset : datasets) {
    text += (text.empty() ? "" : "; ") + dataset.path + ": ";
    switch (dataset.kind) {
      case StoredDataset::Kind::numbers:
        text += std::string(to_string(dataset.dtype)) + "[";
        for (std::size_t axis = 0; axis < dataset.dims.size(); ++axis)
          text += (axis == 0 ? "" : ", ") + std::to_string(dataset.dims[axis]);
        text += "]";
        break;
      case StoredDataset::Kind::sequences:
        text += std::string(to_string(dataset.dtype)) + "[?]";
        break;
      case StoredDataset::Kind::texts:
        text += "texts";
        break;
    }
    text += ", " + std::to_string(dataset.chunk_rows) + " rows a chunk";
    if (dataset.shuffle) text += ", shuffle";
    if (dataset.deflate != 0) text += ", deflate " + std::to_string(dataset.deflate);
    if (dataset.fletcher32) text += ", fletcher32";
  }
  return text;
}

namespace {

Handle number_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return own_type(H5Tcopy(H5T_STD_U8LE));
    case DType::i8:
      return own_type(H5Tcopy(H5T_STD_I8LE));
    case DType::u16:
      return own_type(H5Tcopy(H5T_STD_U16LE));
    case DType::i16:
      return own_type(H5Tcopy(H5T_STD_I16LE));
    case DType::u32:
      return own_type(H5Tcopy(H5T_STD_U32LE));
    case DType::i32:
      return own_type(H5Tcopy(H5T_STD_I32LE));
    case DType::u64:
      return own_type(H5Tcopy(H5T_STD_U64LE));
    case DType::i64:
      return own_type(H5Tcopy(H5T_STD_I64LE));
    case DType::f32:
      return own_type(H5Tcopy(H5T_IEEE_F32LE));
    case DType::f64:
      return own_type(H5Tcopy(H5T_IEEE_F64LE));
    case DType::f16: {
      Handle half = own_type(H5Tcopy(H5T_IEEE_F32LE));
      H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
      H5Tset_size(half.get(), 2);
      H5Tset_ebias(half.get(), 15);
      return half;
    }
    case DType::bf16:  // refused
      break;
    case DType::boolean: {  // the same type as h5py's
      Handle truth = own_type(H5Tenum_create(H5T_STD_I8LE));
      const std::int8_t no = 0, yes = 1;
      H5Tenum_insert(truth.get(), "FALSE", &no);
      H5Tenum_insert(truth.get(), "TRUE", &yes);
      return truth;
    }
  }
  return {};
}

}  // namespace

Handle stored_type(const StoredDataset& dataset) {
  if (dataset.kind == StoredDataset::Kind::texts) {
    Handle text = own_type(H5Tcopy(H5T_C_S1));
    H5Tset_size(text.get(), H5T_VARIABLE);
    H5Tset_cset(text.get(), H5T_CSET_UTF8);
    return text;
  }
  Handle number = number_type(dataset.dtype);
  if (dataset.kind == StoredDataset::Kind::numbers) return number;
  return own_type(H5Tvlen_create(number.get()));
}

}  // namespace penstock::hdf5
