// SPDX-License-Identifier: Apache-2.0
#include "stores/input_store.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <penstock/classes.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/stages/batch.hpp>

#include "console/output.hpp"
#include "console/tool_words.hpp"
#include "slides/slide_flags.hpp"
#include "slides/slide_text.hpp"
#include "stores/foreign_lmdb.hpp"
#include "stores/open_input_store.hpp"
#include "stores/range_reader.hpp"
#include "stores/remote_flags.hpp"

namespace penstock::cli {

namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + printable(in_list(names[i]));
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

// Returns the names of the attributes that Penstock does not understand.
std::vector<std::string> attributes_left_out(const Hdf5Source& source) {
  std::set<std::string> objects{"/"}, named;
  const Schema schema = source.schema();
  for (const Hdf5FieldInfo& field : source.fields()) {
    objects.insert(field.dataset);
    if (schema.at(field.name).classes.empty()) continue;
    named.insert(field.dataset);
    if (field.name == "label") named.insert("/");
  }
  if (source.has_keys()) objects.insert(source.keys());
  std::vector<std::string> names;
  for (const std::string& object : objects) {
    const bool root = object == "/";
    try {
      for (const std::string& name : source.attributes(object))
        if (!(root && name == "penstock_job") && !(root && name == "penstock_keys" && source.has_keys()) &&
            !(name == "classes" && named.contains(object)))
          names.push_back(root ? name : name + " of " + object);
    } catch (const Error&) {  // the dataset is in another file
    }
  }
  return names;
}

// Returns a line for each of the first slides. If there are more slides, the last line has their number.
std::vector<std::string> notes_of_slides(const SlideSource& source) {
  constexpr std::size_t most = 10;
  std::vector<std::string> lines;
  for (const SlideInfo& slide : source.slides()) {
    if (lines.size() == most) {
      lines.push_back(fmt::format("and {} more", counted(source.slides().size() - most, "slide")));
      break;
    }
    lines.push_back(slide_text(slide));
  }
  return lines;
}

// Refuses options that have no effect on a store of this kind. Such an option is a mistake of the user.
void require_fitting(const InputPath& path, std::string_view kind, const InputStoreOptions& options) {
  const auto refuse = [&](std::string_view option, std::string_view stores) {
    throw UsageError(fmt::format("{} is of {}, and {} is of the kind {}; leave it out", option, stores,
                                 printable(path.shown()), kind));
  };
  if (options.values != "automatic" && kind != "lmdb") refuse("--values", "LMDB stores");
  if (!options.key.empty() && kind != "hdf5" && kind != "csv" && kind != "json")
    refuse("--key-field", "HDF5 files, tables and lines of JSON");
  if (*options.isolate_option != '\0' && kind != "hdf5") refuse(options.isolate_option, "HDF5 files");
  if (options.slides != nullptr && !options.slides->first_given().empty() && kind != "slide")
    refuse(options.slides->first_given(), "slides");
}

// Checks what is known before the store is opened, which may take long.
const InputPath& fitting(const InputPath& path, const InputStoreOptions& options) {
  if (path.is_url()) require_fitting(path, "webdataset", options);
  if (options.remote != nullptr && !options.remote->first_given().empty() && !path.is_url() && !path.is_list())
    throw UsageError(fmt::format("{} is for stores on servers, and {} is on this machine; leave it out",
                                 options.remote->first_given(), printable(path.shown())));
  return path;
}

// Divides records on a server into runs of up to 8 ranges, because a range at the border of two runs is transferred
// twice.
std::vector<std::uint64_t> ends_of_ranges(const WebDatasetSource& shards) {
  constexpr std::uint64_t most = 8;
  std::vector<std::uint64_t> ends, blocks;
  std::uint64_t index = 0;
  for (const std::uint64_t end_of_shard : shards.block_ends()) {
    std::uint64_t first = 0;
    bool begun = false;
    for (; index < end_of_shard; ++index) {
      blocks.clear();
      shards.blocks_of(index, blocks);
      if (blocks.empty()) continue;
      if (begun && blocks.front() >= first + most) {
        ends.push_back(index);
        begun = false;
      }
      if (!std::exchange(begun, true)) first = blocks.front();
    }
    if (ends.empty() || ends.back() != end_of_shard) ends.push_back(end_of_shard);
  }
  return ends;
}

}  // namespace

InputStore::InputStore(const InputPath& path, const InputStoreOptions& options)
    : path_(fitting(path, options)), fields_(options.fields), source_(open_input_store(path, options, passed_over_)) {
  require_fitting(path, kind(), options);
  if (const auto* const lmdb = std::get_if<LmdbSource>(&source_);
      lmdb != nullptr && lmdb->values() == LmdbValues::raw && options.values == "automatic") {
    const ForeignValues values = look_at_values(*lmdb, path.to_open());
    values_unknown_ = values == ForeignValues::unknown;
    values_guessed_ = values == ForeignValues::datums;
    if (values_guessed_)
      source_ = LmdbSource(
          Lmdb{.path = path.to_open(), .values = LmdbValues::datum, .lock_file = false, .access = options.access});
  }
  for (const std::string& field : fields_)
    if (const Schema schema = whole_schema(); !schema.find(field)) refuse_field(field, schema);
}

const char* InputStore::kind() const noexcept {
  constexpr std::array kinds{"lmdb", "files", "webdataset", "csv", "json",
                             "hdf5", "slide", "coco",       "voc", "yolo"};  // in OpenedStore's order
  return kinds[source_.index()];
}
std::uint64_t InputStore::size() const {
  return std::visit([](const auto& s) { return s.size(); }, source_);
}
Schema InputStore::whole_schema() const {
  return std::visit([](const auto& s) { return s.schema(); }, source_);
}
Schema InputStore::schema() const {
  const Schema whole = whole_schema();
  if (fields_.empty()) return whole;
  std::vector<Field> fields;
  for (const std::string& field : fields_) fields.push_back(whole.at(field));
  return Schema(std::move(fields));
}
std::string InputStore::key(std::uint64_t index) const {
  if (!has_keys()) return std::to_string(index);
  return std::visit([&](const auto& s) { return s.key(index); }, source_);
}
std::string InputStore::file_of(std::uint64_t index) const {
  const auto* const files = std::get_if<FilesSource>(&source_);
  return files != nullptr ? files->path(index) : std::string();
}
bool InputStore::has_keys() const {
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 == nullptr || hdf5->has_keys();
}
std::vector<std::uint64_t> InputStore::block_ends() const {
  if (is_remote()) return ends_of_ranges(std::get<WebDatasetSource>(source_));
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  if (hdf5 == nullptr) return {};
  try {
    return hdf5->block_ends();
  } catch (const Error& error) {
    if (error.code() != Errc::limit_exceeded) throw;
    return {};  // there are very many chunks, but most were never written, and take no time to read
  }
}

bool InputStore::is_remote() const {
  const auto* const shards = std::get_if<WebDatasetSource>(&source_);
  return shards != nullptr && shards->blocks() != 0;
}

void InputStore::require_unchanged() const {
  if (const auto* const lmdb = std::get_if<LmdbSource>(&source_)) lmdb->require_unchanged();
}

const SlideSource* InputStore::slides() const { return std::get_if<SlideSource>(&source_); }

std::vector<std::string> InputStore::notes() const {
  if (values_guessed_) return {guess()};
  if (const auto* const slides = std::get_if<SlideSource>(&source_)) return notes_of_slides(*slides);
  if (const auto* const table = std::get_if<CsvSource>(&source_)) return table->notes();
  if (const auto* const lines = std::get_if<JsonLinesSource>(&source_)) return lines->notes();
  if (const auto* const coco = std::get_if<CocoSource>(&source_)) return coco->notes();
  if (const auto* const voc = std::get_if<VocSource>(&source_)) return voc->notes();
  if (const auto* const yolo = std::get_if<YoloSource>(&source_)) return yolo->notes();
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 != nullptr ? hdf5->notes() : std::vector<std::string>();
}

std::vector<std::string> InputStore::faults() const {
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 != nullptr ? hdf5->faults() : std::vector<std::string>();
}

std::vector<std::string> InputStore::other_files() const {
  std::vector<std::string> files;
  if (const auto* const hdf5 = std::get_if<Hdf5Source>(&source_))
    for (const Hdf5FieldInfo& field : hdf5->fields())
      files.insert(files.end(), field.other_files.begin(), field.other_files.end());
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::vector<std::string> InputStore::left_out() const {
  std::vector<std::string> lines;
  if (const auto* const shards = std::get_if<WebDatasetSource>(&source_); shards != nullptr && fields_.empty()) {
    std::vector<std::string> kinds;
    std::uint64_t members = 0;
    for (const auto& [extension, count] : shards->left_out()) {
      members += count;
      kinds.push_back(with_commas(count) + (extension.empty() ? " without a key" : " ." + extension));
    }
    if (members != 0)
      lines.push_back(
          fmt::format("left out: {} in the shards that no field takes: {}", counted(members, "file"), listed(kinds)));
  }
  if (const auto* const hdf5 = std::get_if<Hdf5Source>(&source_)) {
    constexpr std::string_view mark = ": left out, ";
    for (const std::string& note : hdf5->notes())
      if (const std::size_t at = note.find(mark); at != std::string::npos)
        lines.push_back((note.starts_with("keys: ")    ? "left out: the keys"
                         : note.starts_with("links: ") ? "left out: links"
                                                       : "left out: the field " + note.substr(0, at)) +
                        ", " + note.substr(at + mark.size()));
    if (const auto names = attributes_left_out(*hdf5); !names.empty())
      lines.push_back(fmt::format("left out: {}: {}", counted(names.size(), "attribute"), listed(names)));
  }
  for (std::string& line : passed_over()) lines.push_back(std::move(line));
  for (std::string& line : lines) line = in_tool_words(std::move(line), kind());
  return lines;
}
std::vector<std::string> InputStore::passed_over() const {
  if (const auto* const files = std::get_if<FilesSource>(&source_)) return files_left_out(*files, {});
  if (const auto* const shards = std::get_if<WebDatasetSource>(&source_)) {
    std::vector<std::string> lines = shards->notes();
    std::erase_if(lines, [](const std::string& note) { return note.starts_with("what is fetched is kept in "); });
    return lines;
  }
  return passed_over_.empty() ? std::vector<std::string>() : std::vector{passed_over_};
}
std::vector<std::string> InputStore::empty_classes() const {
  const auto* const files = std::get_if<FilesSource>(&source_);
  const auto labels = files != nullptr ? files->labels("label") : std::nullopt;
  if (!labels) return {};
  const ClassNames classes = files->schema().at("label").classes;
  std::vector<std::string> names = classes.names();
  for (const std::int64_t label : *labels)
    if (static_cast<std::size_t>(label) < names.size()) names[static_cast<std::size_t>(label)].clear();
  std::erase(names, "");
  return names;
}
Pipeline InputStore::pipeline(const ClassNames& classes) const {
  AnySource source = std::visit([](const auto& s) { return share(s); }, source_);
  if (!classes.empty()) {
    const std::string field = class_field();
    source = whole_schema().at(field).classes.empty() ? name_classes(std::move(source), field, classes)
                                                      : map_classes(std::move(source), field, classes);
  }
  const Pipeline all = from(std::move(source));
  return schema() == whole_schema() ? all : all | select_fields(fields_);
}

std::string InputStore::class_field() const {
  const Schema all = schema();
  if (all.find("label")) return "label";
  std::vector<std::string> named;
  for (const Field& field : all)
    if (!field.classes.empty()) named.push_back(field.name);
  if (named.size() == 1) return named.front();
  throw UsageError(
      fmt::format("--classes: {}: which field has the classes? It is label, or the only one that has names "
                  "for them; the fields are {}",
                  printable(path_.shown()), all.to_string()));
}

bool InputStore::checksums() const {
  const auto* const lmdb = std::get_if<LmdbSource>(&source_);
  if (lmdb != nullptr) return lmdb->values() == LmdbValues::records;
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 != nullptr &&
         std::ranges::all_of(hdf5->fields(), [](const Hdf5FieldInfo& field) { return field.checksums; });
}

const char* InputStore::values() const noexcept {
  const auto* const lmdb = std::get_if<LmdbSource>(&source_);
  if (lmdb == nullptr) return "";
  return lmdb->values() == LmdbValues::records ? "records" : lmdb->values() == LmdbValues::datum ? "datum" : "raw";
}

void InputStore::require_known_values() const {
  if (!values_unknown_) return;
  throw UsageError(
      path_.shown() +
      ": the values are neither Penstock's records nor images nor Caffe's Datums, as far as 16 of them tell; "
      "--values raw takes them as bare bytes");
}

std::string InputStore::guess() const {
  return values_guessed_ ? "values read as Caffe's Datums, which they look like; --values raw takes them as bytes"
                         : std::string();
}

InputStore::Reader InputStore::reader() const {
  Reader reader(whole_schema());
  if (is_remote()) {
    reader.ranges_ = std::make_shared<RangeReader>(std::get<WebDatasetSource>(source_));
    return reader;
  }
  reader.read_ = std::visit(
      [](const auto& s) -> std::function<void(std::uint64_t, SampleBuilder&)> {
        const AnySource source = share(s);  // the reader keeps a copy of the source
        return [source, r = std::shared_ptr(source.model()->open_reader())](std::uint64_t i, SampleBuilder& out) {
          r->read(i, out);
        };
      },
      source_);
  return reader;
}

void InputStore::Reader::expect(std::span<const std::uint64_t> indices) {
  if (ranges_ != nullptr) ranges_->expect(indices);
}

void InputStore::Reader::expect(std::uint64_t begin, std::uint64_t end) {
  if (ranges_ == nullptr) return;
  std::vector<std::uint64_t> indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  ranges_->expect(indices);
}

Sample& InputStore::Reader::read(std::uint64_t index) {
  sample_.reset();
  // Each record gets new memory, because reused memory would only grow.
  owned_ = std::make_unique<OwnedSample>(schema_);
  SampleBuilder out = owned_->builder();
  try {
    if (ranges_ != nullptr)
      ranges_->read(index, out);
    else
      read_(index, out);
  } catch (const std::bad_alloc&) {
    throw Error(Errc::limit_exceeded, "the record is larger than the memory there is").with_index(index);
  }
  sample_ = std::make_unique<Sample>(owned_->sample());
  return *sample_;
}

std::span<const std::byte> bytes_of(const Sample& sample, const Schema& wanted, std::size_t slot) {
  const std::string& name = wanted[slot].name;
  const Schema& there = sample.schema();
  return slot < there.size() && there[slot].name == name ? sample.bytes(slot) : sample.bytes(name);
}

std::vector<std::string> files_left_out(const FilesSource& files, const std::string& labels) {
  std::vector<std::string> lines;
  const auto add = [&](std::uint64_t count, const char* noun, const std::string& why) {
    if (count != 0) lines.push_back(fmt::format("left out: {} {}", counted(count, noun), why));
  };
  add(files.skipped(), "file", "that " + printable(labels) + " doesn't name");
  if (files.ignored() != 0)
    lines.push_back("passed over: " + files.passed_over() +
                    (labels.empty() ? ": names of images end in jpg, jpeg, png, bmp, gif, tif, tiff or webp; rename "
                                      "those that are images, and unpack those that hold some"
                                    : " that " + printable(labels) + " doesn't name"));
  add(files.broken_links(), "link", files.broken_links() == 1 ? "that leads nowhere" : "that lead nowhere");
  for (const std::string& note : files.notes())
    if (note.starts_with("all files lie ")) lines.push_back(note);
  return lines;
}

void refuse_field(const std::string& field, const Schema& schema) {
  throw UsageError("--fields: there is no field \"" + field + "\"; the fields are " + schema.to_string());
}

bool holds_encoded(const Schema& schema, const std::string& field) {
  const auto slot = schema.find(field);
  return slot && schema[*slot].dtype == DType::u8 && schema[*slot].shape.rank() == 1 && !schema[*slot].shape.fixed();
}

void require_field(const Schema& schema, const std::string& field) {
  if (!schema.find(field))
    throw UsageError("--field: there is no field \"" + field + "\"; the fields are " + schema.to_string());
}

}  // namespace penstock::cli
