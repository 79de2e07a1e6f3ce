// SPDX-License-Identifier: Apache-2.0
#include "library/dataset_facts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include <penstock/error.hpp>

#include "library/element.hpp"
#include "library/fill_value.hpp"
#include "library/library.hpp"
#include "library/link_target.hpp"

namespace penstock::hdf5 {

namespace {

// Lists the datasets of a file, group by group, in the order of their names' bytes. An object with several names is
// visited once, under its first name in this order. So files with the same objects list them under the same names. Soft
// and external links are not followed to list objects. A link that does not lead to an object of the file is listed as
// a link.
class DatasetPaths {
 public:
  explicit DatasetPaths(hid_t file) : file_(file) { visit(file, "/", {}, 0); }
  std::vector<std::string> sorted() {
    std::sort(paths_.begin(), paths_.end());
    return std::move(paths_);
  }
  std::vector<ListedDataset> links() && { return std::move(links_); }

 private:
  // The library's work for a path grows at least with the square of the path's depth.
  static constexpr std::size_t deepest = 100;

  void visit(hid_t within, const char* name, const std::string& path, std::size_t depth) {
    const Handle group(H5Gopen2(within, name, H5P_DEFAULT), H5Gclose);
    H5O_info_t info{};
    if (!group || H5Oget_info2(group.get(), &info, H5O_INFO_BASIC) < 0) fail();
    if (!seen_.emplace(info.fileno, info.addr).second) return;
    if (depth > deepest)
      throw Error(Errc::limit_exceeded, "its groups lie in one another more than " + std::to_string(deepest) +
                                            " deep, and are not looked through for datasets; name in `fields` those "
                                            "that are wanted");
    for (const auto& [link, is_hard] : links_of(group.get())) {
      const std::string at = path.empty() ? link : path + "/" + link;
      if (!is_hard) {
        if (leads_away(group.get(), link)) links_.push_back({.path = at, .link = link_target(group.get(), link)});
        continue;
      }
      if (H5Oget_info_by_name2(group.get(), link.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        if (later_version().empty()) fail();
        paths_.push_back(at);
        continue;
      }
      if (info.type == H5O_TYPE_GROUP) {
        visit(group.get(), link.c_str(), at, depth + 1);
      } else if (info.type == H5O_TYPE_DATASET && (info.rc == 1 || seen_.emplace(info.fileno, info.addr).second)) {
        paths_.push_back(at);
      }
    }
  }

  // Returns whether a link leads to another file or to nothing. Does not open the file of an external link.
  bool leads_away(hid_t group, const std::string& link) const {
    H5L_info_t info{};
    if (H5Lget_info(group, link.c_str(), &info, H5P_DEFAULT) < 0) return false;
    if (info.type == H5L_TYPE_EXTERNAL) return true;
    H5O_info_t object{}, root{};
    return info.type == H5L_TYPE_SOFT &&
           (H5Oget_info_by_name2(group, link.c_str(), &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0 ||
            H5Oget_info2(file_, &root, H5O_INFO_BASIC) < 0 || object.fileno != root.fileno);
  }

  using Links = std::vector<std::pair<std::string, bool>>;  // name, and whether the link is a hard link
  static Links links_of(hid_t group) {
    Links names;
    const auto add = [](hid_t, const char* name, const H5L_info_t* link, void* data) -> herr_t {
      try {
        static_cast<Links*>(data)->emplace_back(name, link->type == H5L_TYPE_HARD);
        return 0;
      } catch (...) {
        return -1;  // out of memory
      }
    };
    hsize_t at = 0;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, add, &names) < 0) fail();
    return names;
  }

  [[noreturn]] static void fail() {
    throw Error(Errc::corrupt, "the file's objects can't be listed: " + library_says());
  }

  hid_t file_;
  std::vector<std::string> paths_;
  std::vector<ListedDataset> links_;
  std::set<std::pair<unsigned long, haddr_t>> seen_;  // groups, and datasets that have several names
};

// Returns the dimensions of a dataset; empty if the library reports none.
std::vector<std::uint64_t> dims_of(hid_t dataset) {
  const Handle space = own_space(H5Dget_space(dataset));
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 1) return {};
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  return {dims.begin(), dims.begin() + rank};
}

// Returns whether the dataset is in this file, and not the target of an external link. Returns false if that is
// unknown, because the library then reads the data, which works in both cases.
bool lies_in(hid_t file, hid_t dataset) {
  H5O_info_t root{}, info{};
  return H5Oget_info2(file, &root, H5O_INFO_BASIC) >= 0 && H5Oget_info2(dataset, &info, H5O_INFO_BASIC) >= 0 &&
         root.fileno == info.fileno;
}

std::string filter_name(H5Z_filter_t id, const char* name) {
  switch (id) {
    case H5Z_FILTER_SZIP:
      return "szip";
    case H5Z_FILTER_NBIT:
      return "nbit";
    case H5Z_FILTER_SCALEOFFSET:
      return "scaleoffset";
    default:
      return name[0] != '\0' ? "'" + std::string(name) + "' (" + std::to_string(id) + ")" : std::to_string(id);
  }
}

std::string why_missing(H5Z_filter_t id) {
  if (H5Zfilter_avail(id) > 0) return {};
  unsigned plugins = 1;
  if (H5PLget_loading_state(&plugins) >= 0 && (plugins & H5PL_FILTER_PLUGIN) == 0)
    return "which takes a plugin, and none is loaded for a file that is isolated: leave `isolate` false, or repack the "
           "file with "
           "gzip";
  return "which the HDF5 library here does not have: install its plugin, or repack the file with gzip";
}

FilterFacts filter_of(hid_t creation, unsigned number) {
  std::array<unsigned, 32> values{};
  std::size_t most = values.size();
  std::array<char, 64> name{};
  unsigned flags = 0, config = 0;
  const H5Z_filter_t id =
      H5Pget_filter2(creation, number, &flags, &most, values.data(), name.size() - 1, name.data(), &config);
  FilterFacts facts;
  for (std::size_t i = 0; i < std::min(most, facts.values.size()); ++i) facts.values[i] = values[i];
  const auto known = [&](FilterFacts::Kind kind, const char* text) {
    facts.kind = kind;
    facts.name = text;
  };
  using Kind = FilterFacts::Kind;
  // The HDF Group has registered these numbers.
  enum : H5Z_filter_t { lzf = 32000, blosc = 32001, lz4 = 32004, bitshuffle = 32008, zstd = 32015 };
  switch (id) {
    case H5Z_FILTER_DEFLATE:
      known(Kind::deflate, "deflate");
      return facts;
    case H5Z_FILTER_SHUFFLE:
      known(Kind::shuffle, "shuffle");
      return facts;
    case H5Z_FILTER_FLETCHER32:
      known(Kind::fletcher32, "fletcher32");
      return facts;
    case lzf:
      known(Kind::lzf, "lzf");
      break;
    case blosc:
      known(Kind::blosc, "blosc");
      break;
    case lz4:
      known(Kind::lz4, "lz4");
      break;
    case bitshuffle:
      known(Kind::bitshuffle, "bitshuffle");
      break;
    case zstd:
      known(Kind::zstd, "zstd");
      break;
    default:
      facts.name = filter_name(id, name.data());
  }
  facts.missing = why_missing(id);
  return facts;
}

std::optional<std::uint64_t> offset_of(hid_t dataset) {
  // H5Dget_offset is not enough: if the file has a user block, it returns a wrong offset for data that were never
  // written.
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  if (H5Dget_space_status(dataset, &status) < 0) throw Error(Errc::corrupt, library_says());
  if (status == H5D_SPACE_STATUS_NOT_ALLOCATED) return std::nullopt;
  const haddr_t at = H5Dget_offset(dataset);
  return at == HADDR_UNDEF ? std::nullopt : std::optional<std::uint64_t>(at);
}

}  // namespace

std::vector<ListedDataset> datasets_in(hid_t file) {
  DatasetPaths paths(file);
  std::vector<ListedDataset> found;
  for (const std::string& path : paths.sorted()) {
    const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) {
      const std::string why = later_version();
      if (why.empty()) throw Error(Errc::corrupt, "dataset '" + path + "' can't be opened: " + library_says());
      found.push_back({.path = path, .unreadable = why});
      continue;
    }
    std::vector<std::uint64_t> dims = dims_of(dataset.get());
    if (dims.empty()) {
      found.push_back({.path = path});
      continue;
    }
    const Handle type = own_type(H5Dget_type(dataset.get()));
    found.push_back({.path = path, .dims = std::move(dims), .members = members_of(type.get())});
  }
  for (ListedDataset& link : std::move(paths).links()) found.push_back(std::move(link));
  return found;
}

DatasetFacts facts_of(hid_t file, hid_t dataset, hid_t type) {
  const Handle creation = own_list(H5Dget_create_plist(dataset));
  if (!creation) throw Error(Errc::corrupt, library_says());
  DatasetFacts facts;
  facts.dims = dims_of(dataset);
  if (facts.dims.empty()) return facts;
  facts.variable = has_variable_parts(type);
  facts.element_bytes = H5Tget_size(type);
  if (facts.element_bytes == 0) return facts;
  // Reading the fill value takes memory for two elements. So it is not read for an element that the caller refuses
  // because of its size.
  if (!facts.variable && facts.element_bytes <= DatasetFacts::largest_element)
    facts.fill = fill_of(creation.get(), type, facts.element_bytes);
  facts.elsewhere = !lies_in(file, dataset);
  using Layout = DatasetFacts::Layout;
  switch (H5Pget_layout(creation.get())) {
    case H5D_CHUNKED: {
      facts.layout = Layout::chunked;
      std::array<hsize_t, H5S_MAX_RANK> chunk{};
      const int rank = H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data());
      if (rank > 0) facts.chunk.assign(chunk.begin(), chunk.begin() + rank);
      unsigned options = 0;
      facts.plain_edges =
          H5Pget_chunk_opts(creation.get(), &options) >= 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
      const int count = H5Pget_nfilters(creation.get());
      for (int f = 0; f < count; ++f) facts.filters.push_back(filter_of(creation.get(), static_cast<unsigned>(f)));
      break;
    }
    case H5D_CONTIGUOUS:
      facts.layout = Layout::contiguous;
      facts.external = H5Pget_external_count(creation.get()) > 0;
      if (!facts.variable && !facts.external && !facts.elsewhere) facts.offset = offset_of(dataset);
      break;
    case H5D_COMPACT:
      facts.layout = Layout::compact;
      break;
    default:
      facts.layout = Layout::virtual_parts;
  }
  return facts;
}

}  // namespace penstock::hdf5
