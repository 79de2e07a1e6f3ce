#include "store.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>
#include <utility>

#include <penstock/any_source.hpp>
#include <penstock/error.hpp>
#include <penstock/source.hpp>

#include "output.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

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

// The library's advice for an unfinished store, an option of its own, is of no use to those who call the tool.
LmdbSource open_lmdb(const Lmdb& options) {
  try {
    return LmdbSource(options);
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument || !opens_when_unfinished_may(options)) throw;
    throw Error(Errc::invalid_argument,
                "the store is unfinished: the `penstock pack`, or `convert`, that writes it was stopped, or is still "
                "at work; run the "
                "same command again, it goes on where it was")
        .with_source("lmdb")
        .with_file(error.file());
  }
}

// The names that the other stores give their fields, so that the same stages fit.
WebDatasetSource open_shards(const std::string& path) {
  constexpr std::array image_extensions{"jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff"};
  const auto is_image = [&](const std::string& name) {
    return std::find(image_extensions.begin(), image_extensions.end(), name) != image_extensions.end();
  };
  const Schema found = WebDatasetSource({.path = path}).schema();
  std::vector<WebDatasetField> fields;
  const auto kinds_of_image =
      std::count_if(found.begin(), found.end(), [&](const Field& field) { return is_image(field.name); });
  for (const Field& field : found) {
    const bool image = is_image(field.name) && !found.find("image") &&
                       std::none_of(fields.begin(), fields.end(), [](const auto& f) { return f.name == "image"; });
    const bool label = field.name == "cls" && !found.find("label");
    WebDatasetField made{image ? "image" : label ? "label" : field.name, field.name};
    for (const std::string other : image_extensions)
      if (image && kinds_of_image == 1 && other != field.name) made.extensions += ";" + other;
    fields.push_back(std::move(made));
  }
  return WebDatasetSource({.path = path, .fields = std::move(fields)});
}

// Told by the name alone: any text might be a table.
bool names_table(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".tsv") || path.ends_with(".tab");
}

bool begins_as_hdf5(const std::string& path) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  std::array<char, 8> head{};
  std::ifstream file(path, std::ios::binary);
  // Behind what a user put before it: of 512 bytes, or so many doubled.
  for (std::streamoff at = 0; at <= 1 << 16; at = at == 0 ? 512 : 2 * at)
    if (file.seekg(at) && file.read(head.data(), head.size()) &&
        std::string_view(head.data(), head.size()) == signature)
      return true;
  return false;
}

bool names_hdf5(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

// The files that a pattern stands for, in order.
std::vector<std::string> files_of(const std::string& pattern) {
  ::glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (files.empty()) throw Error(Errc::not_found, "there is no file of this name").with_file(pattern);
  return files;
}

std::vector<std::string> hdf5_files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (names_hdf5(entry.path().string())) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// As HDF5 files have them that `pack` and `convert` made.
std::vector<std::string> classes_in(const Hdf5Source& source) {
  try {
    const auto found = source.attribute("/", "classes");
    const auto* const names = found ? std::get_if<std::vector<std::string>>(&found->values) : nullptr;
    return names != nullptr ? *names : std::vector<std::string>();
  } catch (const Error&) {
    return {};  // another kind of attribute
  }
}

std::variant<LmdbSource, FilesSource, WebDatasetSource, CsvSource, Hdf5Source> open(const std::string& path,
                                                                                    const StoreOptions& options) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  const bool pattern = !fs::exists(status) && path.find_first_of("{*?[") != std::string::npos;
  if (names_table(path) && !fs::is_directory(status)) return CsvSource({.path = path});
  const auto open_hdf5 = [&](std::vector<std::string> files) {
    return Hdf5Source({.paths = std::move(files), .verify_checksum = options.checksums, .trust = options.trust});
  };
  if (pattern && names_hdf5(path)) return open_hdf5(files_of(path));
  if (pattern || (!fs::is_directory(status) && path.ends_with(".tar"))) return open_shards(path);
  if (!fs::exists(status)) throw Error(Errc::not_found, "there is no store or folder here").with_file(path);
  if (fs::is_directory(status) && !fs::exists(fs::path(path) / "data.mdb", failed)) {
    FilesSource files(Files{.root = path, .order = FilesOrder::bytes});
    if (files.size() == 0 && FilesSource(Files{.root = path, .extensions = {"tar"}}).size() != 0)
      return open_shards(path);
    if (files.size() == 0)
      if (auto hdf5 = hdf5_files_in(path); !hdf5.empty()) return open_hdf5(std::move(hdf5));
    if (files.size() == 0)
      throw Error(Errc::not_found,
                  "the folder is neither an LMDB store (no data.mdb) nor does it hold image files, tar shards or HDF5 "
                  "files")
          .with_file(path);
    return files;
  }
  // By its name as well: what stands before the data may hide how it begins.
  if (!fs::is_directory(status) && (names_hdf5(path) || begins_as_hdf5(path))) return open_hdf5({path});
  return open_lmdb({.path = path, .values = values_of(options.values), .verify_checksum = options.checksums});
}

}  // namespace

Store::Store(const std::string& path, const StoreOptions& options) : path_(path), source_(open(path, options)) {
  if (const auto* const hdf5 = std::get_if<Hdf5Source>(&source_)) hdf5_classes_ = classes_in(*hdf5);
}

const char* Store::kind() const noexcept {
  constexpr std::array kinds{"lmdb", "files", "webdataset", "csv", "hdf5"};  // as source_ lists them
  return kinds[source_.index()];
}
std::uint64_t Store::size() const {
  return std::visit([](const auto& s) { return s.size(); }, source_);
}
Schema Store::schema() const {
  return std::visit([](const auto& s) { return s.schema(); }, source_);
}
std::string Store::key(std::uint64_t index) const {
  return std::visit(
      [&](const auto& s) {
        if constexpr (requires { s.key(index); }) {
          return s.key(index);
        } else {
          return std::to_string(index);
        }
      },
      source_);
}
bool Store::has_keys() const {
  return std::visit(
      [](const auto& s) {
        return requires { s.key(0); };
      },
      source_);
}
std::vector<std::uint64_t> Store::block_ends() const {
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 != nullptr ? hdf5->block_ends() : std::vector<std::uint64_t>();
}
std::uint64_t Store::revision() const {
  return std::visit([](const auto& source) { return std::uint64_t{source.revision()}; }, source_);
}

std::vector<std::string> Store::notes() const {
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 != nullptr ? hdf5->notes() : std::vector<std::string>();
}
const std::vector<std::string>& Store::classes() const {
  return std::visit(
      [this](const auto& s) -> const std::vector<std::string>& {
        if constexpr (requires { s.classes(); }) {
          return s.classes();
        } else {
          return hdf5_classes_;  // none of others
        }
      },
      source_);
}
Pipeline Store::pipeline() const {
  return std::visit([](const auto& s) { return from(s); }, source_);
}

bool Store::checksums() const {
  const auto* const lmdb = std::get_if<LmdbSource>(&source_);
  if (lmdb != nullptr) return lmdb->values() == LmdbValues::records;
  const auto* const hdf5 = std::get_if<Hdf5Source>(&source_);
  return hdf5 != nullptr &&
         std::ranges::all_of(hdf5->fields(), [](const Hdf5FieldInfo& field) { return field.checksums; });
}

bool Store::looks_like_datum() const {
  constexpr std::uint64_t looked_at = 8;
  const auto* const lmdb = std::get_if<LmdbSource>(&source_);
  if (lmdb == nullptr || lmdb->values() != LmdbValues::raw) return false;
  std::uint64_t good = 0;
  const std::uint64_t tried = std::min(size(), looked_at);
  try {
    const LmdbSource datums(Lmdb{.path = path_, .values = LmdbValues::datum});
    for (std::uint64_t i = 0; i < tried; ++i) {
      try {
        good += read_sample(datums, i)["image"].bytes() != 0 ? 1 : 0;
      } catch (const Error& error) {
        if (!error.sample_scoped()) throw;
      }
    }
  } catch (const Error&) {
    return false;
  }
  return good > tried / 2;
}

Store::Reader Store::reader() const {
  return std::visit(
      [](const auto& s) {
        const AnySource source = share(s);  // kept with the reader
        return Reader(s.schema(), [source, r = std::shared_ptr(source.model()->open_reader())](
                                      std::uint64_t i, SampleBuilder& out) { r->read(i, out); });
      },
      source_);
}

Store::Reader::Reader(Schema schema, std::function<void(std::uint64_t, SampleBuilder&)> read)
    : schema_(std::move(schema)), read_(std::move(read)) {}

Sample& Store::Reader::read(std::uint64_t index) {
  sample_.reset();
  owned_ = std::make_unique<OwnedSample>(schema_);  // a fresh one: memory of a kept one would only grow
  SampleBuilder out = owned_->builder();
  try {
    read_(index, out);
  } catch (const std::bad_alloc&) {
    throw Error(Errc::limit_exceeded, "the record is larger than the memory there is").with_index(index);
  }
  sample_ = std::make_unique<Sample>(owned_->sample());
  return *sample_;
}

bool holds_encoded(const Schema& schema, const std::string& field) {
  const auto slot = schema.find(field);
  return slot && schema[*slot].dtype == DType::u8 && schema[*slot].shape.rank() == 1 && !schema[*slot].shape.fixed();
}

void require_field(const Schema& schema, const std::string& field) {
  if (!schema.find(field))
    throw UsageError("--field: there is no field \"" + field + "\"; the fields are " + schema.to_string());
}

const char* image_kind(std::span<const std::byte> bytes) noexcept {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 12));
  if (head.starts_with("\xff\xd8")) return "jpeg";
  if (head.starts_with("\x89PNG\r\n")) return "png";
  if (head.starts_with("GIF8")) return "gif";
  if (head.starts_with("BM") && head.size() >= 6) {
    std::uint32_t size = 0;  // two letters alone would be too easily found in noise
    for (unsigned i = 0; i < 4; ++i) size |= std::to_integer<std::uint32_t>(bytes[2 + i]) << (8 * i);
    if (size == bytes.size()) return "bmp";
  }
  if (head.starts_with(std::string_view("II*\0", 4)) || head.starts_with(std::string_view("MM\0*", 4))) return "tiff";
  if (head.starts_with("RIFF") && head.size() == 12 && head.substr(8) == "WEBP") return "webp";
  return "";
}

}  // namespace penstock::cli
