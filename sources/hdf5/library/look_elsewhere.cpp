// Which files the values of a dataset lie in, and which of its rows these files do not have.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <penstock/error.hpp>

#include "library/conversion.hpp"
#include "library/elsewhere.hpp"
#include "library/link_target.hpp"
#include "library/selection.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 62;
// Virtual datasets of virtual datasets.
constexpr unsigned most_nested = 8;
// Faults of a dataset that others are made of, one by one; beyond it, whole parts count as lost.
constexpr std::size_t most_faults = std::size_t{1} << 20;

using Lengths = std::vector<std::int64_t>;

// Empty where they are none that a source has.
Lengths lengths_of(hid_t dataset) {
  const Handle space = own_space(H5Dget_space(dataset));
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 1) return {};
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  if (std::any_of(dims.begin(), dims.begin() + rank, [](hsize_t d) { return d >= std::uint64_t{most_rows}; }))
    return {};
  return {dims.begin(), dims.begin() + rank};
}

// A virtual dataset whose size is that of its sources.
bool grows_with_others(hid_t dataset) {
  const Handle creation = own_list(H5Dget_create_plist(dataset)), space = own_space(H5Dget_space(dataset));
  if (!creation || !space || H5Pget_layout(creation.get()) != H5D_VIRTUAL) return false;
  std::array<hsize_t, H5S_MAX_RANK> most{};
  const int rank = H5Sget_simple_extent_dims(space.get(), nullptr, most.data());
  return rank > 0 && std::find(most.begin(), most.begin() + rank, H5S_UNLIMITED) != most.begin() + rank;
}

// A name of a mapping, as the library understands it: %b is the number of the block.
std::string name_of_block(const std::string& name, std::int64_t block) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : '\0';
    if (next == 'b') text += std::to_string(block);
    if (next == '%') text += '%';
    if (next == 'b' || next == '%')
      ++i;
    else
      text += name[i];
  }
  return text;
}

bool has_block(const std::string& name) {
  for (std::size_t i = name.find('%'); i != std::string::npos && i + 1 < name.size(); i = name.find('%', i + 2))
    if (name[i + 1] == 'b') return true;
  return false;
}

// A dataset that another one's values come from.
struct Source {
  std::string where;    // "dataset 'x' of 'a.h5'"
  std::string problem;  // why nothing of it can be read; empty: it can
  Lengths dims;
  RowFaults faults;
  bool in_work = false, converted = false;
};

// One mapping of a source's values, as the file says it.
struct Mapping {
  std::string file, dataset;
  Handle to, from;
};

Mapping mapping_of(hid_t creation, std::size_t number) {
  const auto text = [&](auto get) {
    const ssize_t length = get(creation, number, nullptr, 0);
    std::string name(length < 0 ? 1 : static_cast<std::size_t>(length) + 1, '\0');
    if (length >= 0) get(creation, number, name.data(), name.size());
    name.pop_back();
    return name;
  };
  Mapping mapping;
  mapping.file = text(H5Pget_virtual_filename);
  mapping.dataset = text(H5Pget_virtual_dsetname);
  mapping.to = own_space(H5Pget_virtual_vspace(creation, number));
  mapping.from = own_space(H5Pget_virtual_srcspace(creation, number));
  if (!mapping.to || !mapping.from) throw Error(Errc::corrupt, library_says());
  return mapping;
}

class Look {
 public:
  explicit Look(Elsewhere& found) : found_(found) {}

  // Rows of it that can't be read.
  RowFaults faults_of(hid_t dataset, unsigned depth) {
    RowFaults faults;
    const Handle creation = own_list(H5Dget_create_plist(dataset));
    const Lengths dims = lengths_of(dataset);
    if (!creation || dims.empty()) return faults;
    const H5D_layout_t layout = H5Pget_layout(creation.get());
    if (layout == H5D_VIRTUAL) look_at_mappings(dataset, creation.get(), dims, depth, faults);
    if (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) > 0)
      look_at_raw_files(dataset, creation.get(), dims, depth, faults);
    faults.sort();
    return faults;
  }

 private:
  // The mappings of one virtual dataset.
  struct Virtual {
    hid_t dataset;
    const Lengths& dims;
    unsigned depth;
    RowFaults& faults;
    std::vector<RowPattern> covered;
    std::int64_t points = 0;
    OtherFile file;  // the last one, and its name
    std::string file_name;
  };

  void look_at_mappings(hid_t dataset, hid_t creation, const Lengths& dims, unsigned depth, RowFaults& faults) {
    Virtual of{dataset, dims, depth, faults, {}, 0, {}, {}};
    std::size_t count = 0;
    if (H5Pget_virtual_count(creation, &count) < 0) throw Error(Errc::corrupt, library_says());
    for (std::size_t i = 0; i < count; ++i) {
      const Mapping mapping = mapping_of(creation, i);
      const Selection to(mapping.to.get(), dims);
      if (to.growing() && (has_block(mapping.file) || has_block(mapping.dataset)))
        look_at_blocks(of, mapping, to);
      else
        look_at(of, to, mapping, 0);
    }
    if (depth == 0) tell_gaps(of);
  }

  // A source for each block, until one is missing: there the dataset ends.
  void look_at_blocks(Virtual& of, const Mapping& mapping, const Selection& to) {
    const std::size_t along = *to.growing();
    const Selection::Axis& axis = to.axes()[along];
    for (std::int64_t b = 0;; ++b) {
      const std::int64_t begin = axis.start + b * axis.stride;
      if (begin < of.dims[along]) {
        const Selection block = to.block(b, of.dims);
        if (look_at(of, block, mapping, b)) continue;
        // The library looks no further, so what is behind it is in no other source.
        const Source& missing = source(of, mapping, b);
        if (along == 0)
          for (RowPattern rest : to.rows()) {
            rest.from = std::max(rest.from, begin + axis.stride);
            of.faults.add(rest, "it comes after one that is missing: " + missing.where + ": " + missing.problem);
          }
        return;
      }
      const Source& next = source(of, mapping, b);
      const Source& after = source(of, mapping, b + 1);
      if (!next.problem.empty() && after.problem.empty())
        throw Error(Errc::not_found, "a source in its middle is missing, and the library ends it there: " + next.where +
                                         ": " + next.problem);
      if (of.depth == 0) found_.told.push_back("it ends before " + next.where + ", which is not there");
      if (b == 0) refuse_rows(next);
      return;
    }
  }

  [[noreturn]] static void refuse_rows(const Source& source) {
    throw Error(Errc::not_found,
                "how many rows it has can't be told, as it grows with " + source.where + ": " + source.problem);
  }

  // False where nothing of the source can be read.
  bool look_at(Virtual& of, const Selection& to, const Mapping& mapping, std::int64_t block) {
    const Source& from = source(of, mapping, block);
    if (!from.problem.empty() && to.growing() && of.dims[*to.growing()] == 0) refuse_rows(from);
    of.covered.insert(of.covered.end(), to.rows().begin(), to.rows().end());
    of.points += std::min(to.points(), most_rows - of.points);
    if (!from.problem.empty()) {
      lose(of, to, 0, from, from.problem);
      return false;
    }
    if (to.empty()) return true;
    const Selection picked(mapping.from.get(), from.dims);
    const Extent extent = extent_of(to, picked, from.dims);
    if (!extent.why.empty()) lose(of, to, extent.good_rows, from, extent.why);
    if (extent.why.empty() || extent.good_rows > 0) take_over(of, to, picked, from);
    return true;
  }

  // All but its first rows.
  void lose(Virtual& of, const Selection& to, std::int64_t good_rows, const Source& from, const std::string& why) {
    for (RowPattern rows : to.rows()) {
      if (good_rows > 0) rows.from = std::max(rows.from, rows.row(good_rows));
      of.faults.add(rows, "source " + from.where + ": " + why);
    }
  }

  // What of the source itself can't be read.
  void take_over(Virtual& of, const Selection& to, const Selection& picked, const Source& from) {
    if (from.faults.empty() || picked.rows().empty() || to.rows().empty()) return;
    const RowPattern &there = picked.rows().front(), &here = to.rows().front();
    const bool by_rows = to.regular() && picked.regular() && there.together() && here.together() &&
                         to.points_in_row() == picked.points_in_row() && of.faults.size() < most_faults;
    if (!by_rows) {
      std::int64_t begin = most_rows, end = 0;
      for (const RowPattern& rows : picked.rows())
        begin = std::min(begin, rows.first()), end = std::max(end, rows.end());
      if (const std::string* why = from.faults.find(begin, end)) lose(of, to, 0, from, "there " + *why);
      return;
    }
    const std::int64_t moved = here.start - there.start;
    from.faults.for_each(there.start, there.end(), [&](RowPattern rows, const std::string& why) {
      rows.start += moved;
      rows.from = std::max(rows.from + moved, here.start);
      rows.to = std::min(rows.to + moved, here.end());
      of.faults.add(rows, "source " + from.where + ": there " + why);
    });
  }

  const Source& source(Virtual& of, const Mapping& mapping, std::int64_t block) {
    const std::string file = name_of_block(mapping.file, block), name = name_of_block(mapping.dataset, block);
    const auto [at, is_new] = sources_.try_emplace({file_name_of(of.dataset), file, name});
    Source& found = at->second;
    if (is_new) {
      found.where = "dataset '" + name + "'" + (file == "." ? " of this file" : " of '" + file + "'");
      found.in_work = true;
      look_at_source(of, file, name, found);
      found.in_work = false;
      if (found.converted && found.problem.empty()) {
        found_.converted = true;
        if (of.depth == 0) ++converted_;
      }
    } else if (found.in_work) {
      found.problem = "it is made of itself";
    }
    return found;
  }

  void look_at_source(Virtual& of, const std::string& file, const std::string& name, Source& found) {
    const Handle own(H5Iget_file_id(of.dataset), H5Fclose);
    hid_t in = own.get();
    if (file != ".") {
      // Many mappings of one file follow each other.
      if (of.file_name != file || !of.file.file) of.file = open_named_file(file, own.get(), NamedBy::virtual_dataset);
      of.file_name = file;
      add_file(of.file.path);
      found.where = "dataset '" + name + "' of '" + of.file.path + "'";
      if (!of.file.problem.empty()) {
        found.problem = of.file.problem;
        return;
      }
      in = of.file.file.get();
    }
    Handle dataset(H5Dopen2(in, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) {
      found.problem = why_no_dataset(in, name);
      return;
    }
    if (of.depth + 1 == most_nested) {
      found.problem = "virtual datasets lie in one another more than " + std::to_string(most_nested) + " deep";
      return;
    }
    found.dims = lengths_of(dataset.get());
    const Handle from = own_type(H5Dget_type(dataset.get())), to = own_type(H5Dget_type(of.dataset));
    if (found.dims.empty())
      found.problem = "it has no dimensions";
    else if (H5Tequal(from.get(), to.get()) <= 0)
      found.converted = true, found.problem = why_converted_wrong(from.get(), to.get());
    if (!found.problem.empty()) return;
    try {
      found.faults = faults_of(dataset.get(), of.depth + 1);
    } catch (const Error& unknown) {
      found.problem = unknown.cause();
    }
    if (grows_with_others(dataset.get())) found_.growing.push_back(std::move(dataset));
  }

  void look_at_raw_files(hid_t dataset, hid_t creation, const Lengths& dims, unsigned depth, RowFaults& faults) {
    const Handle type = own_type(H5Dget_type(dataset)), own(H5Iget_file_id(dataset), H5Fclose);
    std::uint64_t row_bytes = H5Tget_size(type.get());
    for (std::size_t d = 1; d < dims.size(); ++d)
      if (__builtin_mul_overflow(row_bytes, static_cast<std::uint64_t>(dims[d]), &row_bytes)) return;
    std::uint64_t all = 0;
    if (row_bytes == 0 || __builtin_mul_overflow(row_bytes, static_cast<std::uint64_t>(dims.front()), &all)) return;
    const auto lose = [&](std::uint64_t begin, std::uint64_t end, const std::string& why) {
      if (begin < end)
        faults.add(RowPattern::of_rows(static_cast<std::int64_t>(begin / row_bytes),
                                       static_cast<std::int64_t>((end - 1) / row_bytes + 1)),
                   why);
    };
    const int count = H5Pget_external_count(creation);
    std::uint64_t begin = 0;
    for (int i = 0; i < count && begin < all; ++i) {
      std::string name(std::size_t{4096}, '\0');
      off_t offset = 0;
      hsize_t size = 0;
      if (H5Pget_external(creation, static_cast<unsigned>(i), name.size() - 1, name.data(), &offset, &size) < 0)
        throw Error(Errc::corrupt, library_says());
      name.resize(name.find('\0'));
      const std::uint64_t end = size == H5F_UNLIMITED || size > all - begin ? all : begin + size;
      const OtherFile file = find_raw_file(name, own.get());
      const std::size_t number = add_file(file.path);
      const std::uint64_t from = static_cast<std::uint64_t>(offset), has = file.state.bytes;
      const std::uint64_t there = std::min(has > from ? has - from : 0, end - begin);
      const std::string where = "source '" + file.path + "': ";
      if (!file.problem.empty())
        lose(begin, end, where + file.problem);
      else
        lose(begin + there, end,
             where + "the file has " + std::to_string(has) + " bytes, and " + std::to_string(end - begin) +
                 " are read from " + std::to_string(from) + " on");
      if (depth == 0) found_.raw.push_back({begin, end, number, has});
      begin = end;
    }
    lose(begin, all, "no file is named for it");
    if (depth == 0) found_.row_bytes = row_bytes;
  }

  std::size_t add_file(const std::string& path) {
    const auto [at, is_new] = files_.try_emplace(path, found_.files.size());
    if (is_new) found_.files.push_back(path);
    return at->second;
  }

  void tell_gaps(Virtual& of) {
    if (converted_ != 0)
      found_.told.push_back("the values of " + std::to_string(converted_) +
                            " of its sources have another type and are converted; a value that does not fit is an "
                            "error of its row");
    std::ranges::sort(of.covered, {}, &RowPattern::first);
    const bool ranges = std::ranges::all_of(of.covered, &RowPattern::together);
    std::int64_t end = 0, gaps = 0;
    std::string first;
    const auto gap = [&](std::int64_t from, std::int64_t to) {
      if (from < to && gaps++ == 0) first = RowPattern::of_rows(from, to).words();
    };
    if (ranges) {
      for (const RowPattern& rows : of.covered) gap(end, rows.first()), end = std::max(end, rows.end());
      gap(end, of.dims.front());
    }
    std::int64_t points = 1;
    for (const std::int64_t d : of.dims)
      if (__builtin_mul_overflow(points, d, &points)) return;
    if (gaps != 0)
      found_.told.push_back(first + (gaps == 1 ? "" : " and others") +
                            " lie in no source: they are the fill value, as the file says");
    else if (of.points < points)
      found_.told.push_back(std::to_string(points - of.points) + " of its " + std::to_string(points) +
                            " values lie in no source: they are the fill value, as the file says");
  }

  Elsewhere& found_;
  std::map<std::string, std::size_t> files_;
  std::map<std::tuple<std::string, std::string, std::string>, Source> sources_;
  std::size_t converted_ = 0;
};

}  // namespace

std::optional<Elsewhere> look_elsewhere(hid_t file, hid_t dataset, const OpensNoted& opens) {
  Elsewhere found;
  found.faults = Look(found).faults_of(dataset, 0);
  std::set<std::string> known(found.files.begin(), found.files.end());
  const FileState own = state_of(file_name_of(file));
  for (const OpensNoted::Opened& opened : opens.opened()) {
    found.states.push_back(opened.state);
    if (opened.state != own && known.insert(opened.path).second) found.files.push_back(opened.path);
  }
  if (found.files.empty() && found.faults.empty() && found.told.empty()) return std::nullopt;
  std::ranges::sort(found.states, {}, [](const FileState& state) { return std::tuple(state.device, state.inode); });
  return found;
}

}  // namespace penstock::hdf5
