// SPDX-License-Identifier: Apache-2.0
#include "stores/open_input_store.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/slide_endings.hpp>

#include "console/output.hpp"
#include "slides/slide_files.hpp"
#include "slides/slide_flags.hpp"
#include "stores/open_boxes.hpp"
#include "stores/remote_flags.hpp"
#include "stores/store_list.hpp"
#include "stores/store_to_write.hpp"

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

bool opens_when_unfinished_may(Lmdb options) {
  options.allow_unfinished = true;
  try {
    const LmdbSource opened(std::move(options));
    return true;
  } catch (const Error&) {
    return false;
  }
}

LmdbValues values_of(const std::string& text) {
  if (text == "records") return LmdbValues::records;
  if (text == "raw") return LmdbValues::raw;
  if (text == "datum") return LmdbValues::datum;
  return LmdbValues::automatic;
}

// Opens an LMDB. Throws other messages than the library in two cases: if the file is no store at all, and if the store
// is unfinished. For an unfinished store, the library's advice names an option that the tool doesn't have.
LmdbSource open_lmdb(const Lmdb& options) {
  try {
    return LmdbSource(options);
  } catch (const Error& error) {
    if (const std::string name = fs::path(options.path).filename().string();
        error.code() == Errc::corrupt && fs::is_regular_file(options.path) && !name.ends_with(".mdb"))
      throw Error(Errc::corrupt,
                  "the file is none of the stores that are known: LMDB, tar shards (*.tar, or a list *.txt), HDF5 "
                  "(*.h5, *.hdf5), slides (*.svs, *.tif, *.ndpi, *.mrxs, ...), tables (*.csv, *.tsv, *.tab), lines of "
                  "JSON (*.jsonl, *.ndjson) or COCO's annotations (*.json), or its first bytes are damaged")
          .with_file(options.path);
    if (error.code() != Errc::invalid_argument || !opens_when_unfinished_may(options)) throw;
    const bool cache = error.cause().starts_with("the store is a cache");
    throw Error(
        Errc::invalid_argument,
        cache ? "the store is a cache that has some of its pipeline's records; a training run with that cache goes "
                "on filling it, and it can be read when it has all"
              : "the store is unfinished: the `penstock pack`, `convert` or `tile` that writes it was stopped, or is "
                "still at work; run the same command again, it goes on where it was")
        .with_source("lmdb")
        .with_file(error.file());
  }
}

// Returns whether the path is a table. Only its name shows that, because any text might be a table.
bool names_table(const std::string& path) {
  return has_ending(path, ".csv") || has_ending(path, ".tsv") || has_ending(path, ".tab");
}

bool names_json_lines(const std::string& path) { return has_ending(path, ".jsonl") || has_ending(path, ".ndjson"); }

WebDatasetSource open_shards(const std::string& path, const InputStoreOptions& options,
                             const std::shared_ptr<const RemoteClient>& client = nullptr) {
  const std::vector<std::string>& wanted = options.fields;
  WebDatasetSource all(WebDataset{.path = path, .access = options.access, .client = client});
  if (wanted.empty()) return all;
  std::vector<WebDatasetField> fields;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(all.fields(), name, &WebDatasetField::name);
    if (found == all.fields().end()) refuse_field(name, all.schema());
    fields.push_back(*found);
  }
  return WebDatasetSource({.path = path, .fields = std::move(fields), .access = options.access, .client = client});
}

CsvSource open_table(const std::string& path, const InputStoreOptions& options) {
  std::vector<CsvColumn> columns;
  for (const std::string& name : options.fields) columns.push_back({.column = name});
  return CsvSource({.path = path, .key = options.key, .columns = std::move(columns), .access = options.access});
}

JsonLinesSource open_json_lines(const std::string& path, const InputStoreOptions& options) {
  const JsonLinesSource all({.path = path, .key = options.key, .access = options.access});
  if (options.fields.empty()) return all;
  std::vector<JsonField> fields;
  for (const std::string& name : options.fields) {
    const auto found = std::ranges::find(all.fields(), name, &JsonField::member);
    if (found == all.fields().end()) refuse_field(name, all.schema());
    fields.push_back(*found);
  }
  return JsonLinesSource({.path = path, .key = options.key, .fields = std::move(fields), .access = options.access});
}

bool opens_alone(const Hdf5& options, const Hdf5Field& field) {
  Hdf5 alone = options;
  alone.fields = {field};
  try {
    return Hdf5Source(alone).schema().find(field.name).has_value();
  } catch (const Error& error) {
    if (error.code() != Errc::not_found) throw;
    return false;
  }
}

// Finds the dataset of a field. The field's name is the dataset's path. For a column of a compound dataset, "/" and the
// column's name follow. The column's name may contain "/" too.
Hdf5Field hdf5_field(const Hdf5& options, const std::string& name) {
  const Hdf5Field whole{.dataset = name, .name = name};
  if (opens_alone(options, whole)) return whole;
  std::optional<Hdf5Field> last;
  for (std::size_t slash = name.rfind('/'); slash != std::string::npos && slash != 0;
       slash = name.rfind('/', slash - 1)) {
    Hdf5Field column{.dataset = name.substr(0, slash), .member = name.substr(slash + 1), .name = name};
    if (opens_alone(options, column)) return column;
    if (!last) last = std::move(column);
  }
  return last.value_or(whole);  // opening this field later throws an error with the reason
}

Hdf5Source open_with(Hdf5 hdf5, const InputStoreOptions& options) {
  hdf5.key = options.key;
  hdf5.verify_checksum = options.checksums;
  hdf5.isolate = options.isolate;
  std::vector<Hdf5Field> fields;
  for (const std::string& name : options.fields) fields.push_back(hdf5_field(hdf5, name));
  hdf5.fields = std::move(fields);
  return Hdf5Source(std::move(hdf5));
}

Hdf5Source open_hdf5_files(std::vector<std::string> files, const InputStoreOptions& options) {
  return open_with({.paths = std::move(files)}, options);
}
Hdf5Source open_hdf5_list(const std::string& list, const InputStoreOptions& options) {
  return open_with({.path = list}, options);
}

bool begins_as_hdf5(const std::string& path) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  std::array<char, 8> head{};
  std::ifstream file(path, std::ios::binary);
  // HDF5 allows a user's block before the data. Its size is 512 bytes, or 512 bytes doubled several times.
  for (std::streamoff at = 0; at <= 1 << 16; at = at == 0 ? 512 : 2 * at)
    if (file.seekg(at) && file.read(head.data(), head.size()) &&
        std::string_view(head.data(), head.size()) == signature)
      return true;
  return false;
}

bool names_hdf5(std::string_view path) { return has_ending(path, ".h5") || has_ending(path, ".hdf5"); }

bool names_tar(std::string_view path) { return has_ending(path, ".tar"); }

// Returns the HDF5 files of a folder. Sets `passed_over` to a line about other files.
std::vector<std::string> hdf5_files_of(FolderListing listing, std::string& passed_over) {
  const auto first_other = std::stable_partition(listing.files.begin(), listing.files.end(), names_hdf5);
  SkippedEntries others;
  for (const std::string& file : std::span(first_other, listing.files.end()))
    if (const std::string name = file.substr(file.rfind('/') + 1); !is_beside_shards(name)) others.add_file(name);
  listing.files.erase(first_other, listing.files.end());
  for (const std::string& name : listing.folders)
    if (!is_beside_shards(name)) others.add_folder();
  if (const std::string text = others.text(); !text.empty())
    passed_over = "passed over: " + text + "; of a folder of HDF5 files those are read that end in .h5 or .hdf5";
  return std::move(listing.files);
}

// Throws the first slide's error if no slide can be read.
void require_readable(const SlideSource& opened) {
  if (std::ranges::all_of(opened.slides(), [](const SlideInfo& slide) { return slide.failure.has_value(); }))
    throw Error(*opened.slides().front().failure);
}

// Opens slides, cut as the flags specify. Without flags, cuts them into squares with the side of the first readable
// slide's own tiles, so that each of these tiles is read once. If that slide has no tiles, or if its tiles have sides
// of more than `most` pixels, the side is that of `Slides`.
SlideSource open_slides(const std::string& path, const SlideFlags* flags, std::string& passed_over) {
  WantedSlides files = slide_files({path});
  passed_over = passed_over_text(files.passed_over);
  if (flags != nullptr && !flags->first_given().empty()) {
    SlideSource opened(slides_of(*flags, std::move(files.files)));
    require_readable(opened);
    return opened;
  }
  Slides slides{.paths = std::move(files.files), .edges = SlideEdges::pad};
  const SlideSource opened(slides);
  require_readable(opened);
  for (const SlideInfo& slide : opened.slides()) {
    if (slide.failure) continue;
    constexpr std::int32_t most = 1024;  // OpenSlide's tiles may be as wide as the slide
    const std::int32_t side = std::max(slide.tile_width, slide.tile_height);
    const bool square = slide.tile_width == slides.size && slide.tile_height == slides.size;
    if (square || side == 0 || side > most) return opened;
    slides.size = side;
    return SlideSource(slides);
  }
  return opened;
}

// Throws Error(not_found). If the store was written in shards, the message names the shards, because their names differ
// from X.tar or X.h5.
[[noreturn]] void refuse_missing(const std::string& path) {
  std::string hint;
  for (const std::string extension : {".tar", ".h5"}) {
    if (!path.ends_with(extension)) continue;
    const StoreToWrite shards{extension == ".tar" ? StoreForm::shards : StoreForm::hdf5,
                              path.substr(0, path.size() - extension.size()), false, extension};
    std::error_code failed;
    if (fs::exists(shards.path + "-000000" + extension, failed)) hint = "; there are shards: '" + shards.name() + "'";
  }
  if (const std::string folder = missing_folder(path); !folder.empty()) hint = "; there is no folder " + folder;
  throw Error(Errc::not_found, "there is no store or folder here" + hint).with_file(path);
}

// Whether a list of shards may have a URL. A client makes the folder of its cache.
bool names_servers(const std::string& list) {
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);)
    if (line.find("://") != std::string::npos) return true;
  return false;
}

// Opens shards on a server. Refuses stores of other kinds by their names, because opening would transfer all of them.
WebDatasetSource open_url(const InputPath& url, const InputStoreOptions& options) {
  const std::string& name = url.shown();
  const bool other = names_hdf5(name) || names_table(name) || names_json_lines(name) || names_slide(name) ||
                     has_ending(name, ".json") || has_ending(name, ".mdb") || has_ending(name, ".lmdb");
  if (!names_remote(url.to_open()) || other || name.ends_with('/'))
    throw Error(Errc::unsupported,
                "from servers, tar shards are read, by http:// and https://, each named, like "
                "'https://host/x-{000000..000146}.tar'; copy other stores to this machine")
        .with_file(name);
  return open_shards(url.to_open(), options, client_of(options.remote));
}

}  // namespace

OpenedStore open_input_store(const InputPath& place, const InputStoreOptions& options, std::string& passed_over) {
  if (place.is_url()) return open_url(place, options);
  const std::string& path = place.to_open();
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  const bool pattern = !fs::exists(status) && path.find_first_of("{*?[") != std::string::npos;
  // Opening a pipe would wait for a process that writes into it.
  if (fs::exists(status) && !fs::is_directory(status) && !fs::is_regular_file(status))
    throw Error(Errc::invalid_argument, "it is neither a file nor a folder; name a store").with_file(path);
  if (place.is_list() && fs::is_regular_file(status))
    return open_shards(path, options, names_servers(path) ? client_of(options.remote) : nullptr);
  if (names_table(path) && !fs::is_directory(status)) return open_table(path, options);
  if (names_json_lines(path) && !fs::is_directory(status)) return open_json_lines(path, options);
  const auto open_hdf5 = [&](std::vector<std::string> files) { return open_hdf5_files(std::move(files), options); };
  if (names_list(path) && !begins_as_list(path)) return open_coco(path);
  if (names_list(path)) {
    const std::string form = form_of_list(path);
    if (form == "tar") return open_shards(path, options);
    if (form == "hdf5") return open_hdf5_list(path, options);
    if (form == "lmdb")
      return open_lmdb({.path = path,
                        .values = values_of(options.values),
                        .verify_checksum = options.checksums,
                        .lock_file = false,
                        .access = options.access});
    throw Error(Errc::corrupt, "the file is no list of stores, as `penstock merge` writes it; merge them again")
        .with_file(path);
  }
  if (pattern && names_hdf5(path)) return open_hdf5(files_of_pattern(path, "hdf5", true));
  if (names_slide(path) && !fs::is_directory(status) && (pattern || fs::exists(status)))
    return open_slides(path, options.slides, passed_over);
  if (!fs::exists(status) && !pattern) refuse_missing(path);
  if (pattern || (!fs::is_directory(status) && names_tar(path))) return open_shards(path, options);
  if (fs::is_directory(status) && !fs::exists(fs::path(path) / "data.mdb", failed)) {
    if (std::optional<VocSource> voc = open_voc(path)) return *std::move(voc);
    if (std::optional<YoloSource> yolo = open_yolo(path)) return *std::move(yolo);
    FilesSource files(Files{.root = path, .order = FilesOrder::bytes});
    if (files.size() != 0) return files;
    FolderListing all = list_files(
        path, [](std::string_view) { return true; }, "folder");
    const auto has = [&](bool (*takes)(std::string_view)) { return std::ranges::any_of(all.files, takes); };
    if (has(names_tar)) return open_shards(path, options);
    if (has(names_hdf5)) return open_hdf5(hdf5_files_of(std::move(all), passed_over));
    if (has(names_slide)) return open_slides(path, options.slides, passed_over);
    throw Error(Errc::not_found,
                "the folder is neither an LMDB store (no data.mdb) nor does it hold image files, tar shards, HDF5 "
                "files or slides" +
                    (files.passed_over().empty() ? "" : ", only " + files.passed_over()))
        .with_file(path);
  }
  // The name counts as well, because bytes before the data may hide the signature.
  if (!fs::is_directory(status) && (names_hdf5(path) || begins_as_hdf5(path))) return open_hdf5({path});
  return open_lmdb({.path = path,
                    .values = values_of(options.values),
                    .verify_checksum = options.checksums,
                    .lock_file = false,
                    .access = options.access});
}

}  // namespace penstock::cli
