// SPDX-License-Identifier: Apache-2.0
// Finds the other files that have values of a dataset, and the rows whose values can't be read.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>

#include "library/conversion.hpp"
#include "library/coverage.hpp"
#include "library/element.hpp"
#include "library/fill_value.hpp"
#include "library/link_target.hpp"
#include "library/mapping.hpp"
#include "library/outside_values.hpp"
#include "library/selection.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 62;
// At most this many datasets may be nested, the innermost one included, which need not be virtual.
constexpr unsigned most_nested = 8;
// At most this many faults of sources are taken over row by row. After that, all rows from a faulty source count as
// lost.
constexpr std::size_t most_faults = std::size_t{1} << 18;
// At most this many remarks are made, and then one that says that there are more.
constexpr std::size_t most_told = 16;

using Lengths = std::vector<std::int64_t>;

bool is_single(hid_t dataset) {
  const Handle space = own_space(H5Dget_space(dataset));
  return space && H5Sget_simple_extent_type(space.get()) == H5S_SCALAR;
}

// Returns a dataset's dimensions. A single value counts as one row. Returns empty for dimensions that a source can't
// have.
Lengths lengths_of(hid_t dataset) {
  const Handle space = own_space(H5Dget_space(dataset));
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (is_single(dataset)) return {1};
  if (rank < 1) return {};
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  if (std::any_of(dims.begin(), dims.begin() + rank, [](hsize_t d) { return d >= std::uint64_t{most_rows}; }))
    return {};
  return {dims.begin(), dims.begin() + rank};
}

// Returns whether this is a virtual dataset whose size depends on its sources.
bool grows_with_others(hid_t dataset) {
  const Handle creation = own_list(H5Dget_create_plist(dataset)), space = own_space(H5Dget_space(dataset));
  if (!creation || !space || H5Pget_layout(creation.get()) != H5D_VIRTUAL) return false;
  std::array<hsize_t, H5S_MAX_RANK> most{};
  const int rank = H5Sget_simple_extent_dims(space.get(), nullptr, most.data());
  return rank > 0 && std::find(most.begin(), most.begin() + rank, H5S_UNLIMITED) != most.begin() + rank;
}

// A dataset that another dataset's values come from.
struct SourceDataset {
  std::string where;    // "dataset 'x' of 'a.h5'"
  std::string problem;  // why no value of the source can be read; empty if values can be read
  Lengths dims;
  Handle type;
  RowFaults faults;
  bool single = false;
};

class OutsideValueFinder {
 public:
  OutsideValueFinder(OutsideValues& found, const FileState& own) : found_(found), own_(own) {}

  // Returns the dataset's rows that can't be read. `where`: the dataset's name if it is a source; empty for the
  // outermost dataset.
  RowFaults faults_of(hid_t dataset, unsigned depth, const std::string& where) {
    RowFaults faults;
    const Handle creation = own_list(H5Dget_create_plist(dataset));
    const Lengths dims = lengths_of(dataset);
    if (!creation || dims.empty()) return faults;
    const H5D_layout_t layout = H5Pget_layout(creation.get());
    if (depth == 0) {
      outermost_type_ = own_type(H5Dget_type(dataset));
      if (outermost_type_) outermost_fill_ = fill_or_zeros(creation.get(), outermost_type_.get());
    }
    if (layout == H5D_VIRTUAL) look_at_mappings(dataset, creation.get(), dims, depth, where, faults);
    if (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) > 0)
      look_at_raw_files(dataset, creation.get(), dims, depth, faults);
    faults.sort();
    return faults;
  }

 private:
  // One virtual dataset whose mappings are being checked.
  struct Virtual {
    hid_t dataset;
    const Lengths& dims;
    unsigned depth;
    const std::string& where;
    RowFaults& faults;
    Coverage covered;
    Handle type;
    std::map<const SourceDataset*, std::string> of_types = {};  // what is wrong with each source's type
    std::size_t converted = 0;
    OtherFile file = {};  // the file that was opened last; its name is `file_name`
    std::string file_name = {};
  };

  void look_at_mappings(hid_t dataset, hid_t creation, const Lengths& dims, unsigned depth, const std::string& where,
                        RowFaults& faults) {
    Virtual of{dataset, dims, depth, where, faults, Coverage(dims), own_type(H5Dget_type(dataset))};
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
    if (of.converted != 0)
      tell(of, "the values of " + std::to_string(of.converted) +
                   " of its sources have another type and are converted; a value that does not fit is an error of its "
                   "row");
    const Coverage::Gaps gaps = of.covered.gaps();
    if (!gaps.words.empty()) tell(of, gaps.words);
    if (gaps.overlap) leave_unfilled(of, creation);
  }

  // Before a read, memory is filled with the outermost dataset's fill value, so values that the library leaves
  // unwritten have this fill value. If the dataset `of` has another fill value, all its rows are faulty.
  void leave_unfilled(Virtual& of, hid_t creation) {
    found_.unfilled = true;
    if (of.depth == 0 || same_fill(of.dataset, creation)) return;
    of.faults.add(RowPattern::of_rows(0, of.dims.front()),
                  why("its sources overlap and leave places out, which the HDF5 library does not fill as it says"));
  }

  bool same_fill(hid_t dataset, hid_t creation) const {
    const Handle type = own_type(H5Dget_type(dataset));
    return type && H5Tequal(type.get(), outermost_type_.get()) > 0 &&
           fill_or_zeros(creation, type.get()) == outermost_fill_ && outermost_fill_;
  }
  // Returns a fill value; empty for zeros. Returns none if the value has parts of no fixed size, which are not
  // compared.
  static std::optional<std::vector<std::byte>> fill_or_zeros(hid_t creation, hid_t type) {
    H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
    if (H5Pfill_value_defined(creation, &defined) < 0) return std::nullopt;
    if (defined != H5D_FILL_VALUE_USER_DEFINED) return std::vector<std::byte>{};
    if (has_variable_parts(type)) return std::nullopt;
    std::vector<std::byte> fill = fill_of(creation, type, H5Tget_size(type));
    if (std::ranges::all_of(fill, [](std::byte b) { return b == std::byte{0}; })) fill.clear();
    return fill;
  }

  // Checks the source of each block, up to the first block whose source is missing.
  void look_at_blocks(Virtual& of, const Mapping& mapping, const Selection& to) {
    const std::size_t along = *to.growing();
    const Selection::Axis& axis = to.axes()[along];
    for (std::int64_t b = 0;; ++b) {
      const std::int64_t begin = axis.start + b * axis.stride;
      if (begin < of.dims[along]) {
        const Selection block = to.block(b, of.dims);
        if (look_at(of, block, mapping, b)) continue;
        // The library does not look for later sources, so later rows are lost.
        const SourceDataset& missing = source(of, mapping, b);
        if (along == 0)
          for (RowPattern rest : to.rows()) {
            rest.from = std::max(rest.from, begin + axis.stride);
            of.faults.add(rest, why("it comes after one that is missing: " + missing.where + ": " + missing.problem));
          }
        return;
      }
      // The dataset ends before block b, because the library did not find source b. Sources b and b + 1 are looked for
      // anyway. Their files are noted as absent if they are missing. It is an error if source b + 1 exists, and source
      // b does not.
      probing_ = true;
      const SourceDataset& next = source(of, mapping, b);
      const SourceDataset& after = source(of, mapping, b + 1);
      probing_ = false;
      if (!next.problem.empty() && after.problem.empty())
        throw Error(Errc::not_found, "a source in its middle is missing, and the library ends it there: " + next.where +
                                         ": " + next.problem);
      tell(of, "it ends before " + next.where + ", which is not there");
      if (b == 0) refuse_rows(next);
      return;
    }
  }

  [[noreturn]] static void refuse_rows(const SourceDataset& source) {
    throw Error(Errc::not_found,
                "how many rows it has can't be told, as it grows with " + source.where + ": " + source.problem);
  }

  // Checks one mapping. Returns false if its source has a `problem`.
  bool look_at(Virtual& of, const Selection& to, const Mapping& mapping, std::int64_t block) {
    const SourceDataset& from = source(of, mapping, block);
    if (!from.problem.empty() && to.growing() && of.dims[*to.growing()] == 0) refuse_rows(from);
    of.covered.add(to);
    if (!from.problem.empty()) {
      lose(of, to, 0, from, from.problem);
      return false;
    }
    if (to.empty()) return true;
    if (const std::string& wrong = wrong_type(of, from); !wrong.empty()) {
      lose(of, to, 0, from, wrong);
      return true;
    }
    const Selection picked(mapping.from.get(), from.dims);
    if (from.single && !picked.all()) {
      lose(of, to, 0, from, "it has no dimensions, and parts of it are read");
      return true;
    }
    const AvailableRows available = available_rows(to, picked, from.dims);
    if (!available.why.empty()) lose(of, to, available.good_rows, from, available.why);
    if (available.why.empty() || available.good_rows > 0) take_over(of, to, picked, from);
    return true;
  }

  // Notes that the mapping's rows are lost, except the first `good_rows`.
  void lose(Virtual& of, const Selection& to, std::int64_t good_rows, const SourceDataset& from,
            const std::string& problem) {
    const RowFaults::Why said = why("source " + from.where + ": " + problem);
    for (RowPattern rows : to.rows()) {
      if (good_rows > 0) rows.from = std::max(rows.from, rows.row(good_rows));
      of.faults.add(rows, said);
    }
  }

  // Returns the reason as a shared text, so that many rows with one reason share it.
  RowFaults::Why why(std::string text) {
    const auto known = whys_.find(text);
    if (known != whys_.end()) return known->second;
    auto said = std::make_shared<const std::string>(std::move(text));
    whys_.emplace(*said, said);
    return said;
  }

  const std::string& wrong_type(Virtual& of, const SourceDataset& from) {
    const auto [at, is_new] = of.of_types.try_emplace(&from);
    if (is_new && H5Tequal(from.type.get(), of.type.get()) <= 0) {
      at->second = why_converted_wrong(from.type.get(), of.type.get());
      if (at->second.empty()) found_.converted = true, ++of.converted;
    }
    return at->second;
  }

  void tell(const Virtual& of, const std::string& text) {
    const std::string line = of.depth == 0 ? text : of.where + ": " + text;
    if (found_.told.size() < most_told && std::ranges::find(found_.told, line) == found_.told.end())
      found_.told.push_back(line);
    else if (found_.told.size() == most_told)
      found_.told.push_back("there is more to be told, of sources or parts of it");
  }

  // Takes over the source's own faults: a row that reads a faulty row of the source is faulty for the same reason. If
  // it is unknown which row reads which row, or if there are too many faults, one fault makes all rows of the mapping
  // faulty.
  void take_over(Virtual& of, const Selection& to, const Selection& picked, const SourceDataset& from) {
    if (from.faults.empty() || picked.rows().empty() || to.rows().empty()) return;
    if (to.regular() && picked.regular() && to.points_in_row() == picked.points_in_row() &&
        take_over_rows(of, to.rows().front(), picked, from))
      return;
    std::int64_t begin = most_rows, end = 0;
    for (const RowPattern& rows : picked.rows()) begin = std::min(begin, rows.first()), end = std::max(end, rows.end());
    if (const std::string* problem = from.faults.find(begin, end)) lose(of, to, 0, from, "there " + *problem);
  }

  // Takes over the faults for a mapping in which each row of `here` reads one selected row of the source. Returns false
  // if there are too many faults.
  bool take_over_rows(Virtual& of, const RowPattern& here, const Selection& picked, const SourceDataset& from) {
    const RowPattern& there = picked.rows().front();
    const Selection::Axis& axis = picked.axes().front();
    const bool shifted = there.together() && here.together();
    RowFaults::Why last, said;
    return !from.faults.any_of(there.start, there.end(), [&](const RowPattern& lost, const RowFaults::Why& problem) {
      if (taken_over_++ >= most_faults) return true;
      if (problem != last) said = why("source " + from.where + ": there " + *problem);
      last = problem;
      RowPattern rows = shifted ? lost : here;
      if (shifted) {
        const std::int64_t moved = here.start - there.start;
        rows.start += moved;
        rows.from = std::max(rows.from + moved, here.start);
        rows.to = std::min(rows.to + moved, here.end());
      } else {
        // If lost rows alternate with good rows, the good rows between them count as lost too.
        const std::int64_t first = axis.below(lost.first()), end = axis.below(std::min(lost.end(), there.end()));
        if (first >= end) return false;
        rows.from = std::max(rows.from, here.row(first));
        rows.to = std::min(rows.to, here.row(end - 1) + 1);
      }
      of.faults.add(rows, said);
      return false;
    });
  }

  const SourceDataset& source(Virtual& of, const Mapping& mapping, std::int64_t block) {
    const std::string file = name_of_block(mapping.file, block), name = name_of_block(mapping.dataset, block);
    const auto key = std::tuple(file_name_of(of.dataset), file, name);
    // The depth is a part of the key, because it limits how far the source's own sources are checked.
    const auto [at, is_new] = sources_.try_emplace(std::tuple_cat(key, std::tuple(of.depth)));
    SourceDataset& found = at->second;
    if (is_new) {
      const std::string in = file == "." && of.depth != 0 ? std::get<0>(key) : file;
      found.where = "dataset '" + name + "'" + (in == "." ? " of this file" : " of '" + in + "'");
      if (in_work_.insert(key).second) {
        look_at_source(of, file, name, found);
        in_work_.erase(key);
      } else {
        found.problem = "it is made of itself";
      }
    }
    return found;
  }

  void look_at_source(Virtual& of, const std::string& file, const std::string& name, SourceDataset& found) {
    const Handle own(H5Iget_file_id(of.dataset), H5Fclose);
    hid_t in = own.get();
    if (file != ".") {
      // Often many mappings to one file follow each other, so the last file stays open.
      if (of.file_name != file || !of.file.file) of.file = open_named_file(file, own.get(), NamedBy::virtual_dataset);
      of.file_name = file;
      if (!is_own(of.file.state)) {
        if (!probing_ || of.file.problem.empty())
          add_file(of.file.path);
        else
          found_.absent.push_back(of.file.path);
        found.where = "dataset '" + name + "' of '" + of.file.path + "'";
      } else {
        found.where = "dataset '" + name + "' of this file";
      }
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
    found.single = is_single(dataset.get());
    found.type = own_type(H5Dget_type(dataset.get()));
    if (found.dims.empty()) {
      found.problem = "it has no dimensions";
      return;
    }
    try {
      found.faults = faults_of(dataset.get(), of.depth + 1, found.where);
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
    const auto lose = [&](std::uint64_t begin, std::uint64_t end, const std::string& problem) {
      if (begin < end)
        faults.add(RowPattern::of_rows(static_cast<std::int64_t>(begin / row_bytes),
                                       static_cast<std::int64_t>((end - 1) / row_bytes + 1)),
                   why(problem));
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
      if (depth == 0)
        found_.raw.push_back({begin, end, number, has});
      else if (file.problem.empty())
        found_.raw_below.try_emplace(number, has);
      begin = end;
    }
    lose(begin, all, "no file is named for it");
    if (depth == 0) found_.row_bytes = row_bytes;
  }

  bool is_own(const FileState& state) const noexcept {
    return state.inode != 0 && state.inode == own_.inode && state.device == own_.device;
  }

  std::size_t add_file(const std::string& path) {
    const auto [at, is_new] = files_.try_emplace(path, found_.files.size());
    if (is_new) found_.files.push_back(path);
    return at->second;
  }

  OutsideValues& found_;
  FileState own_;
  Handle outermost_type_;
  std::optional<std::vector<std::byte>> outermost_fill_;
  bool probing_ = false;  // whether a source is looked for only to find where the dataset ends
  std::map<std::string, std::size_t> files_;
  // Identifies a source: the path of the file that has the mapping, and the names of file and dataset in the mapping.
  using SourceName = std::tuple<std::string, std::string, std::string>;
  std::map<std::tuple<std::string, std::string, std::string, unsigned>, SourceDataset> sources_;
  std::set<SourceName> in_work_;
  std::unordered_map<std::string_view, RowFaults::Why> whys_;
  std::size_t taken_over_ = 0;
};

}  // namespace

std::optional<OutsideValues> find_outside_values(hid_t file, hid_t dataset, const OpenRecorder& opens) {
  OutsideValues found;
  const FileState own = state_of(file_name_of(file));
  found.faults = OutsideValueFinder(found, own).faults_of(dataset, 0, "");
  std::set<std::string> known(found.files.begin(), found.files.end());
  for (const OpenRecorder::OpenedFile& opened : opens.opened()) {
    found.states.push_back(opened.state);
    if (opened.state != own && known.insert(opened.path).second) found.files.push_back(opened.path);
  }
  if (found.files.empty() && found.states.empty() && found.growing.empty() && found.faults.empty() &&
      found.told.empty())
    return std::nullopt;
  found.unopened = opens.failed();
  std::ranges::sort(found.unopened);
  std::ranges::sort(found.states, {}, [](const FileState& state) { return std::tuple(state.device, state.inode); });
  return found;
}

}  // namespace penstock::hdf5
