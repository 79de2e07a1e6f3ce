// SPDX-License-Identifier: Apache-2.0
// HDF5 files that say much in few bytes: what was never written, what lies deep, what was compressed again and again.
#include <zlib.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <penstock/extend/source.hpp>
#include <penstock/sources/hdf5.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "sources/hdf5/files.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

H5Data never_written(std::vector<hsize_t> shape, std::vector<hsize_t> chunk = {}) {
  H5Data data{.path = "x", .type = h5_type<std::uint8_t>(), .shape = std::move(shape)};
  data.never_written = true;
  data.layout = chunk.empty() ? H5D_CONTIGUOUS : H5D_CHUNKED;
  data.chunk = std::move(chunk);
  return data;
}

void write(const TempFolder& folder, const H5Data& data) { write_h5(folder / "a.h5", {.data = {data}}); }

Hdf5Source source_in(const TempFolder& folder) { return Hdf5Source({.path = folder / "a.h5"}); }

void open(const TempFolder& folder) { (void)source_in(folder).schema(); }

void read_first(const TempFolder& folder) {
  const Hdf5Source source = source_in(folder);
  (void)read_sample(share(source), 0);
}

void read_all(const TempFolder& folder) {
  const AnySource source = share(source_in(folder));
  for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
}

// A group in a group, n deep, and a dataset in each.
void nested(const TempFolder& folder, std::size_t n) {
  const H5Id file = create_h5(folder / "a.h5");
  H5Id group(H5Gopen2(file, "/", H5P_DEFAULT));
  for (std::size_t i = 0; i < n; ++i) {
    write_data(group, counting<std::uint8_t>("x", {4}));
    group = H5Id(H5Gcreate2(group, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
}

// n groups, each of which has the root, itself and the one before it inside.
void cycles(const TempFolder& folder, std::size_t n) {
  const H5Id file = create_h5(folder / "a.h5");
  write_data(file, counting<std::uint8_t>("x", {4}));
  for (std::size_t i = 0; i < n; ++i) {
    const auto name = [](std::size_t number) { return "g" + std::to_string(number); };
    const H5Id group(H5Gcreate2(file, name(i).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const auto link = [&](const std::string& to) {
      h5_must(H5Lcreate_hard(file, to.c_str(), group, ("to" + to).c_str(), H5P_DEFAULT, H5P_DEFAULT));
    };
    h5_must(H5Lcreate_hard(file, "/", group, "root", H5P_DEFAULT, H5P_DEFAULT));
    link(name(i));
    if (i != 0) link(name(i - 1));
  }
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                9) != Z_OK)
    throw std::runtime_error("compress2 failed");
  out.resize(size);
  return out;
}

// Two chunks of a KiB that were compressed twice, each of which becomes n bytes.
void compressed_twice(const TempFolder& folder, std::size_t n) {
  const H5Id file = create_h5(folder / "a.h5");
  const hsize_t size = 2048, chunk = 1024;
  const H5Id list(H5Pcreate(H5P_DATASET_CREATE)), space(H5Screate_simple(1, &size, nullptr));
  h5_must(H5Pset_chunk(list, 1, &chunk));
  for (int i = 0; i < 2; ++i) h5_must(H5Pset_deflate(list, 9));
  const H5Id data(H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
  const std::string stored = deflated(deflated(std::string(n, '\0')));
  for (const hsize_t at : {hsize_t{0}, chunk})
    h5_must(H5Dwrite_chunk(data, H5P_DEFAULT, 0, &at, stored.size(), stored.data()));
}

void long_names(const TempFolder& folder, std::size_t n) {
  write_h5(folder / "a.h5", {.data = {counting<std::uint8_t>(std::string(n, 'a'), {4}),
                                      counting<std::uint8_t>(std::string(n, 'b'), {5})}});
}

void many_datasets(const TempFolder& folder, std::size_t n) {
  const H5Id file = create_h5(folder / "a.h5");
  for (std::size_t i = 0; i < n; ++i) write_data(file, counting<std::uint8_t>("x" + std::to_string(i), {4}));
}

}  // namespace

TEST_CASE("HDF5 files take time and memory as they are large, not as they say") {
  check_inputs(
      "HDF5", {.seconds = 1, .megabytes = 160},
      {
          {.name = "n rows of 4 MiB, never written",
           .size = 24,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 H5Data data = never_written({n, 4 << 20});
                 data.fill = "x";
                 write(f, data);
               },
           .use = read_all},
          {.name = "n chunks of a byte, never written",
           .size = 1 << 20,
           .make = [](const TempFolder& f, std::size_t n) { write(f, never_written({n}, {1})); },
           .use = read_first},
          {.name = "ends of n chunks of a byte, never written",
           .size = 1 << 24,
           .make = [](const TempFolder& f, std::size_t n) { write(f, never_written({n}, {1})); },
           .use = [](const TempFolder& f) { (void)source_in(f).block_ends(); },
           .refused = Errc::limit_exceeded},
          {.name = "a row of n chunks of a byte, never written",
           .size = 1 << 20,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write(f, never_written({2, n}, {1, 1}));
               },
           .use = read_first,
           .refused = Errc::unsupported},
          {.name = "n datasets of elements of 32 MiB",
           .size = 4,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 const H5Id file = create_h5(f / "a.h5");
                 for (std::size_t i = 0; i < n; ++i) {
                   H5Data data{.path = "x" + std::to_string(i),
                               .type = {.kind = H5Type::Kind::opaque, .bytes = 32 << 20}};
                   data.shape = {1};
                   data.never_written = true;
                   write_data(file, data);
                 }
               },
           .use = open},
          {.name = "groups that are nested n deep",
           .size = 400,
           .make = nested,
           .use = open,
           .refused = Errc::limit_exceeded},
          {.name = "n groups that link to each other and to the root", .size = 20, .make = cycles, .use = open},
          {.name = "chunks that were compressed twice, of n zeros",
           .size = 16 << 20,
           .make = compressed_twice,
           .use = read_first,
           .refused = Errc::corrupt},
          {.name = "n datasets", .size = 1'000, .make = many_datasets, .use = open},
          {.name = "names of n bytes in an error",
           .size = 10'000,
           .make = long_names,
           .use = open,
           .refused = Errc::schema_mismatch},
      });
}

}  // namespace PENSTOCK_TEST_FILE
