// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/files.hpp"

#include <malloc.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <list>
#include <random>
#include <span>
#include <stdexcept>

namespace penstock_test {

namespace {

using Kind = H5Type::Kind;

void fill_in(std::byte* at, const H5Type& type, std::mt19937_64& random, bool dense, std::list<std::string>& held) {
  const auto byte = [&] { return static_cast<std::byte>(dense ? random() : random() % 3); };
  const auto letter = [&] { return static_cast<char>(1 + random() % 255); };
  const auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (type.kind) {
    case Kind::integer:
    case Kind::real:
    case Kind::brain:
    case Kind::bits:
    case Kind::opaque:
      for (std::size_t i = 0; i < type.bytes; ++i) at[i] = byte();
      return;
    case Kind::boolean:
    case Kind::enumeration: {
      constexpr int members[] = {0, 3, 100};
      const int value = type.kind == Kind::boolean ? static_cast<int>(random() % 2) : members[random() % 3];
      std::memset(at, 0, type.bytes);
      at[type.big ? type.bytes - 1 : 0] = static_cast<std::byte>(value);
      return;
    }
    case Kind::fixed_text: {
      const std::size_t length = random() % (type.bytes + 1);
      const char pad = type.padding == H5T_STR_SPACEPAD ? ' ' : '\0';
      for (std::size_t i = 0; i < type.bytes; ++i) at[i] = static_cast<std::byte>(i < length ? letter() : pad);
      // After the end of a terminated text anything may stand.
      if (type.padding == H5T_STR_NULLTERM)
        for (std::size_t i = length + 1; i < type.bytes; ++i) at[i] = byte();
      return;
    }
    case Kind::text: {
      if (random() % 8 == 0) return put(static_cast<char*>(nullptr));
      std::string& text = held.emplace_back(random() % 40, '\0');
      std::ranges::generate(text, letter);
      return put(text.data());
    }
    case Kind::sequence: {
      const std::size_t length = random() % 4 == 0 ? 0 : random() % 12;
      const H5Type& of = type.members[0].second;
      std::string& values = held.emplace_back(length * of.bytes, '\0');
      for (std::size_t i = 0; i < length; ++i)
        fill_in(reinterpret_cast<std::byte*>(values.data()) + i * of.bytes, of, random, dense, held);
      return put(hvl_t{length, length == 0 ? nullptr : values.data()});
    }
    case Kind::array: {
      std::size_t count = 1;
      for (const hsize_t n : type.dims) count *= n;
      const std::size_t each = H5Tget_size(stored_type(type.members[0].second));
      for (std::size_t i = 0; i < count; ++i) fill_in(at + i * each, type.members[0].second, random, dense, held);
      return;
    }
    case Kind::compound: {
      const H5Id stored = stored_type(type);
      for (unsigned i = 0; i < type.members.size(); ++i)
        fill_in(at + H5Tget_member_offset(stored, i), type.members[i].second, random, dense, held);
      return;
    }
  }
}

std::string shuffled(const std::string& in, std::size_t each) {
  if (each <= 1) return in;
  std::string out = in;
  const std::size_t count = in.size() / each;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < each; ++b) out[b * count + i] = in[i * each + b];
  return out;
}

std::string deflated(const std::string& in, unsigned level) {
  uLongf size = compressBound(in.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()), in.size(),
                static_cast<int>(level)) != Z_OK)
    throw std::runtime_error("compress2");
  out.resize(size);
  return out;
}

// One chunk of a dataset: where it begins, and how much of it lies within the shape.
struct Part {
  std::vector<hsize_t> start, count;
};

std::vector<Part> parts_of(const H5Data& data) {
  std::vector<Part> parts;
  Part part{std::vector<hsize_t>(data.shape.size()), std::vector<hsize_t>(data.shape.size())};
  const std::function<void(std::size_t)> go = [&](std::size_t axis) {
    if (axis == data.shape.size()) return parts.push_back(part);
    for (hsize_t at = 0; at < data.shape[axis]; at += data.chunk[axis]) {
      part.start[axis] = at;
      part.count[axis] = std::min(data.chunk[axis], data.shape[axis] - at);
      go(axis + 1);
    }
  };
  go(0);
  return parts;
}

// The chunk whole, with zeros beyond the shape.
std::string chunk_of(const H5Data& data, const Part& part, const std::string& values, std::size_t each) {
  std::size_t size = each;
  for (const hsize_t n : data.chunk) size *= n;
  std::string chunk(size, '\0');
  const std::function<void(std::size_t, std::size_t, std::size_t)> go = [&](std::size_t axis, std::size_t from,
                                                                            std::size_t to) {
    if (axis == data.shape.size()) {
      std::memcpy(chunk.data() + to * each, values.data() + from * each, each);
      return;
    }
    for (hsize_t i = 0; i < part.count[axis]; ++i)
      go(axis + 1, from * data.shape[axis] + part.start[axis] + i, to * data.chunk[axis] + i);
  };
  go(0, 0, 0);
  return chunk;
}

void write_past_the_library(hid_t dataset, const H5Data& data, const Part& part, std::string bytes, std::size_t each,
                            unsigned mask) {
  for (std::size_t i = 0; i < data.filters.size(); ++i) {
    if (mask >> i & 1) continue;
    if (data.filters[i] == H5Filter::shuffle)
      bytes = shuffled(bytes, each);
    else if (data.filters[i] == H5Filter::deflate)
      bytes = deflated(bytes, data.level);
    else
      throw std::logic_error("a filter that only the library applies");
  }
  h5_must(H5Dwrite_chunk(dataset, H5P_DEFAULT, mask, part.start.data(), bytes.size(), bytes.data()), "H5Dwrite_chunk");
}

H5Id creation_of(const H5Data& data, hid_t type) {
  H5Id list(H5Pcreate(H5P_DATASET_CREATE));
  h5_must(H5Pset_layout(list, data.layout));
  if (data.layout == H5D_CHUNKED) {
    h5_must(H5Pset_chunk(list, static_cast<int>(data.chunk.size()), data.chunk.data()), "H5Pset_chunk");
    if (data.edges_unfiltered) h5_must(H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
  }
  if (data.early) h5_must(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY));
  for (const H5Filter filter : data.filters) {
    switch (filter) {
      case H5Filter::deflate:
        h5_must(H5Pset_deflate(list, data.level));
        break;
      case H5Filter::shuffle:
        h5_must(H5Pset_shuffle(list));
        break;
      case H5Filter::fletcher32:
        h5_must(H5Pset_fletcher32(list));
        break;
      case H5Filter::scaleoffset:
        h5_must(H5Pset_scaleoffset(list, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT));
        break;
      case H5Filter::nbit:
        h5_must(H5Pset_nbit(list));
        break;
      case H5Filter::szip:
        h5_must(H5Pset_szip(list, H5_SZIP_NN_OPTION_MASK, 8));
        break;
    }
  }
  if (data.fill) h5_must(H5Pset_fill_value(list, type, data.fill->data()), "H5Pset_fill_value");
  return list;
}

}  // namespace

H5Id::H5Id(hid_t id, const char* what) : id_(id) {
  if (id < 0) throw std::runtime_error(std::string(what) + " failed");
}
H5Id::~H5Id() {
  if (id_ >= 0) H5Idec_ref(id_);
}
void h5_must(herr_t status, const char* what) {
  if (status < 0) throw std::runtime_error(std::string(what) + " failed");
}

std::uint64_t H5Data::elements() const {
  std::uint64_t count = 1;
  for (const hsize_t n : shape) count *= n;
  return count;
}

H5Id create_h5(const std::string& path, const H5Files& files) {
  // The library takes and gives back megabytes for each file: pages that come back at once make that five times faster.
  [[maybe_unused]] static const int kept = mallopt(M_TRIM_THRESHOLD, 256 << 20) + mallopt(M_MMAP_THRESHOLD, 256 << 20);
  const H5Id creation(H5Pcreate(H5P_FILE_CREATE)), access(H5Pcreate(H5P_FILE_ACCESS));
  if (files.user_block != 0) h5_must(H5Pset_userblock(creation, files.user_block));
  if (files.narrow) h5_must(H5Pset_sizes(creation, 4, 4));
  if (files.latest) h5_must(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
  return H5Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), "H5Fcreate");
}

void write_data(hid_t file, const H5Data& data) {
  const H5Id type = stored_type(data.type);
  const std::size_t each = H5Tget_size(type);
  std::string values = data.values;
  std::list<std::string> held;
  if (values.empty() && !data.never_written) {
    values.resize(data.elements() * each);
    std::mt19937_64 random(data.seed);
    for (std::size_t i = 0; i < data.elements(); ++i)
      fill_in(reinterpret_cast<std::byte*>(values.data()) + i * each, data.type, random, data.dense, held);
  }
  if (!data.never_written && values.size() != data.elements() * each)
    throw std::logic_error(data.path + ": not as many values");

  const std::vector<hsize_t> unlimited(data.shape.size(), H5S_UNLIMITED);
  const H5Id space(H5Screate_simple(static_cast<int>(data.shape.size()), data.shape.data(),
                                    data.resizable ? unlimited.data() : nullptr));
  const H5Id creation = creation_of(data, type), links(H5Pcreate(H5P_LINK_CREATE));
  h5_must(H5Pset_create_intermediate_group(links, 1));
  const H5Id dataset(H5Dcreate2(file, data.path.c_str(), type, space, links, creation, H5P_DEFAULT), "H5Dcreate");
  if (data.never_written || data.elements() == 0) return;
  if (data.left_out.empty() && data.stored_as.empty())
    return h5_must(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "H5Dwrite");
  const std::vector<Part> parts = parts_of(data);
  for (std::uint64_t i = 0; i < parts.size(); ++i) {
    if (data.left_out.contains(i)) continue;
    if (const auto mask = data.stored_as.find(i); mask != data.stored_as.end()) {
      write_past_the_library(dataset, data, parts[i], chunk_of(data, parts[i], values, each), each, mask->second);
      continue;
    }
    h5_must(H5Sselect_hyperslab(space, H5S_SELECT_SET, parts[i].start.data(), nullptr, parts[i].count.data(), nullptr));
    h5_must(H5Dwrite(dataset, type, space, space, H5P_DEFAULT, values.data()), "H5Dwrite");
  }
}

void write_h5(const std::string& path, const H5Files& files) {
  const H5Id file = create_h5(path, files);
  for (const H5Data& data : files.data) write_data(file, data);
}

std::size_t open_handles() { return static_cast<std::size_t>(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL)); }

}  // namespace penstock_test
