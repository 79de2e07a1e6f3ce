// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/feature_bags.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "bag_file.hpp"
#include "bag_table.hpp"
#include "slide_files.hpp"

namespace penstock {

using coords::BagColumn;
using coords::BagFile;
using coords::bags_name;

class FeatureBagSource::Impl {
 public:
  explicit Impl(FeatureBags o);

  const coords::SlideFeatureFile& slide(std::uint64_t index) const {
    if (index >= slides.size())
      throw Error(Errc::not_found, "there is no such record; the source has " + std::to_string(slides.size()))
          .with_source(bags_name)
          .with_file(options.path)
          .with_index(index);
    return slides[index];
  }
  void read(std::uint64_t index, SampleBuilder& out) const;

  FeatureBags options;
  std::vector<coords::SlideFeatureFile> slides;
  std::vector<BagColumn> columns;   // each has one value per slide of `slides`
  std::vector<std::string> groups;  // one group per slide of `slides`; empty: each slide is its own group
  Schema schema;
  std::uint64_t dimension = 0, identity = 0;
  std::string said_by;  // the file that gave the dimension, the dtype or both, if the options don't give them
  std::vector<std::string> notes;

 private:
  void check_options() const;
  void leave_out(coords::BagTable table);
  void measure();
  void make_schema();
  void hash();
};

namespace {

Error bags_error(Errc code, const std::string& why, const std::string& file) {
  return Error(code, why).with_source(bags_name).with_file(file);
}

// Returns the Error to throw for a slide's record. A `schema_mismatch` or `invalid_argument` of the slide's file
// becomes `unsupported`, so that only this record is bad.
Error error_of_slide(const Error& failed) {
  const bool scoped = failed.sample_scoped();
  const bool of_file = failed.code() == Errc::schema_mismatch || failed.code() == Errc::invalid_argument;
  if (scoped || !of_file) return failed;
  Error error(Errc::unsupported, failed.cause());
  error.with_source(bags_name);
  if (!failed.file().empty()) error.with_file(failed.file());
  return error;
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > most ? text + ", …" : text;
}

std::string counted_slides(std::size_t count) { return std::to_string(count) + (count == 1 ? " slide" : " slides"); }

}  // namespace

FeatureBagSource::Impl::Impl(FeatureBags o) : options(std::move(o)) {
  check_options();
  coords::SlideFeatureFiles found = coords::find_slide_files(options.path, "h5_files", bags_name);
  slides = std::move(found.files);
  if (!found.passed_over.empty())
    notes.push_back("passed over: " + found.passed_over + "; files of features end in .h5");
  if (!options.labels.empty()) leave_out(coords::read_bag_table(options, slides));
  measure();
  make_schema();
  hash();
}

void FeatureBagSource::Impl::check_options() const {
  const auto refuse = [&](const std::string& why) { throw bags_error(Errc::invalid_argument, why, options.path); };
  if (options.path.empty()) refuse("`path` is missing: a folder of files, one for each slide");
  if (options.features.empty()) refuse("`features` is missing: the dataset's name");
  if (options.dimension > std::uint64_t{1} << 31) refuse("a row has at most 2^31 features");
  if (options.dtype && *options.dtype != DType::f32 && *options.dtype != DType::f16)
    refuse("features are f32 or f16, not " + std::string(to_string(*options.dtype)));
  if (options.labels.empty() && (!options.slide_column.empty() || !options.columns.empty() || !options.group.empty()))
    refuse("`slide_column`, `columns` and `group` are those of a table; name it in `labels`");
}

// Leaves out the slides that the table doesn't list, or throws if the options don't allow that.
void FeatureBagSource::Impl::leave_out(coords::BagTable table) {
  std::vector<std::string> unlisted;
  for (std::size_t i = 0; i < slides.size(); ++i)
    if (!table.listed[i]) unlisted.push_back(slides[i].slide);
  if (!unlisted.empty() && options.unlisted == FeatureBags::Unlisted::refuse)
    throw bags_error(Errc::invalid_argument,
                     counted_slides(unlisted.size()) + " of " + std::to_string(slides.size()) + " have no line in " +
                         options.labels + ": " + first_few(unlisted) +
                         "; add them, say which column has the slides' names in `slide_column`, or set `unlisted` to "
                         "leave_out",
                     options.path);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < slides.size(); ++i) {
    if (!table.listed[i]) continue;
    if (kept != i) slides[kept] = std::move(slides[i]);
    for (BagColumn& column : table.columns) {
      if (!column.whole.empty()) column.whole[kept] = column.whole[i];
      if (!column.numbers.empty()) column.numbers[kept] = column.numbers[i];
    }
    if (!table.groups.empty()) table.groups[kept] = table.groups[i];
    ++kept;
  }
  slides.resize(kept);
  for (BagColumn& column : table.columns)
    (column.whole.empty() ? column.numbers.resize(kept) : column.whole.resize(kept));
  if (!table.groups.empty()) table.groups.resize(kept);
  columns = std::move(table.columns);
  groups = std::move(table.groups);
  if (!unlisted.empty())
    notes.push_back(counted_slides(unlisted.size()) + " left out, without a line in " + options.labels + ": " +
                    first_few(unlisted));
  if (table.other_lines != 0)
    notes.push_back(options.labels + ": " + std::to_string(table.other_lines) +
                    (table.other_lines == 1 ? " line is" : " lines are") + " of slides that are not there");
  if (table.guessed_column)
    notes.push_back(options.labels + ": the column \"" + *table.guessed_column +
                    "\" is taken for the slides' names; `slide_column` says which one is meant");
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
}

void FeatureBagSource::Impl::measure() {
  dimension = options.dimension;
  DType dtype = options.dtype.value_or(DType::f32);
  if (options.dimension == 0 || !options.dtype) {
    std::optional<Error> refused;
    for (const coords::SlideFeatureFile& slide : slides) {
      try {
        const BagFile file(options, slide.path);
        if (file.rows() == 0) continue;
        if (options.dimension == 0) dimension = file.dimension();
        if (!options.dtype) dtype = file.dtype();
        said_by = slide.path;
        break;
      } catch (const Error& failed) {
        if (!error_of_slide(failed).sample_scoped()) throw;
        if (!refused) refused = failed;
      }
    }
    if (said_by.empty() && refused) throw Error(*refused);
    if (said_by.empty())
      throw bags_error(Errc::invalid_argument,
                       "none of " + counted_slides(slides.size()) +
                           " has any features, so their dimension is not known; say `dimension` and `dtype`",
                       options.path);
    notes.push_back("features are " + std::string(to_string(dtype)) + " [?, " + std::to_string(dimension) + "], as " +
                    said_by + " says");
  }
  options.dtype = dtype;
}

void FeatureBagSource::Impl::make_schema() {
  std::vector<Field> fields{{"features", *options.dtype, {dynamic, static_cast<std::int64_t>(dimension)}}};
  if (!options.coords.empty()) fields.push_back({"coords", DType::i64, {dynamic, 2}});
  for (const BagColumn& column : columns) fields.push_back(column.field);
  try {
    schema = Schema(std::move(fields));
  } catch (const Error& failed) {
    throw bags_error(failed.code(), failed.cause() + "; name other columns in `columns`", options.labels);
  }
}

void FeatureBagSource::Impl::hash() {
  std::string text = schema.to_string() + '\0' + options.features + '\0' + options.coords;
  for (const coords::SlideFeatureFile& slide : slides) text += '\0' + slide.slide;
  for (const std::string& group : groups) text += '\0' + group;
  identity = XXH3_64bits(text.data(), text.size());
  for (const BagColumn& column : columns) {
    identity = XXH3_64bits_withSeed(column.whole.data(), column.whole.size() * sizeof(std::int64_t), identity);
    identity = XXH3_64bits_withSeed(column.numbers.data(), column.numbers.size() * sizeof(float), identity);
    for (std::size_t number = 0; number < column.field.classes.size(); ++number) {
      const std::string_view name = column.field.classes[number];
      identity = XXH3_64bits_withSeed(name.data(), name.size(), identity);
    }
  }
}

void FeatureBagSource::Impl::read(std::uint64_t index, SampleBuilder& out) const {
  const coords::SlideFeatureFile& from = slide(index);
  const BagFile file(options, from.path);
  if (file.rows() != 0 && file.dimension() != dimension)
    throw bags_error(Errc::unsupported,
                     "its features have " + std::to_string(file.dimension()) + " numbers each, and " +
                         (options.dimension != 0 ? "`dimension` is" : "those of " + said_by + " have") + " " +
                         std::to_string(dimension),
                     from.path);
  const auto rows = static_cast<std::int64_t>(file.rows());
  file.read_features(out.emplace(0, {rows, static_cast<std::int64_t>(dimension)}));
  std::size_t slot = 1;
  if (!options.coords.empty()) file.read_coords(out.emplace(slot++, {rows, 2}));
  for (const BagColumn& column : columns) {
    if (column.whole.empty())
      out.scalar(slot++, column.numbers[index]);
    else
      out.scalar(slot++, column.whole[index]);
  }
}

FeatureBagSource::FeatureBagSource(FeatureBags options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t FeatureBagSource::size() const noexcept { return impl_->slides.size(); }
Schema FeatureBagSource::schema() const { return impl_->schema; }

void FeatureBagSource::read(std::uint64_t index, SampleBuilder& out) const {
  try {
    impl_->read(index, out);
  } catch (const Error& failed) {
    Error error = error_of_slide(failed);
    if (index < size()) error.with_file(file_of(index)).with_key(key(index));
    throw error.with_index(index);
  }
}

std::string FeatureBagSource::file() const { return impl_->options.path; }
std::string FeatureBagSource::file_of(std::uint64_t index) const { return impl_->slide(index).path; }
std::string FeatureBagSource::key(std::uint64_t index) const { return impl_->slide(index).slide; }
std::uint64_t FeatureBagSource::identity() const noexcept { return impl_->identity; }

std::uint64_t FeatureBagSource::revision() const noexcept {
  std::uint64_t hash = 0;
  for (const coords::SlideFeatureFile& slide : impl_->slides)
    hash = hash * 0x9e3779b97f4a7c15 + file_revision(slide.path);
  return hash;
}

std::optional<std::vector<std::int64_t>> FeatureBagSource::labels(std::string_view field) const {
  for (const BagColumn& column : impl_->columns)
    if (column.field.name == field && column.field.dtype == DType::i64) return column.whole;
  return std::nullopt;
}

std::vector<Group> FeatureBagSource::groups() const {
  std::vector<Group> groups;
  for (std::uint64_t i = 0; i < size(); ++i)
    groups.push_back({impl_->groups.empty() ? impl_->slides[i].slide : impl_->groups[i], i + 1});
  return groups;
}

std::vector<std::string> FeatureBagSource::notes() const { return impl_->notes; }

}  // namespace penstock
