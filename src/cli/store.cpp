#include "store.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

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
                "the store is unfinished: the `penstock pack` that writes it was stopped, or is still at work; run the "
                "same command again, it goes on where it was")
        .with_source("lmdb")
        .with_file(error.file());
  }
}

std::variant<LmdbSource, FilesSource> open(const std::string& path, const StoreOptions& options) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) throw Error(Errc::not_found, "there is no store or folder here").with_file(path);
  if (fs::is_directory(status) && !fs::exists(fs::path(path) / "data.mdb", failed)) {
    FilesSource files(Files{.root = path, .order = FilesOrder::bytes});
    if (files.size() == 0)
      throw Error(Errc::not_found, "the folder is neither an LMDB store (no data.mdb) nor does it hold image files")
          .with_file(path);
    return files;
  }
  return open_lmdb({.path = path, .values = values_of(options.values), .verify_checksum = options.checksums});
}

template <class S>
constexpr bool is_lmdb = std::is_same_v<std::remove_cvref_t<S>, LmdbSource>;

}  // namespace

Store::Store(const std::string& path, const StoreOptions& options) : path_(path), source_(open(path, options)) {}

const char* Store::kind() const noexcept { return std::holds_alternative<LmdbSource>(source_) ? "lmdb" : "files"; }
std::uint64_t Store::size() const {
  return std::visit([](const auto& s) { return s.size(); }, source_);
}
Schema Store::schema() const {
  return std::visit([](const auto& s) { return s.schema(); }, source_);
}
std::string Store::key(std::uint64_t index) const {
  return std::visit([&](const auto& s) { return s.key(index); }, source_);
}
const std::vector<std::string>& Store::classes() const {
  return std::visit([](const auto& s) -> const std::vector<std::string>& { return s.classes(); }, source_);
}
Pipeline Store::pipeline() const {
  return std::visit([](const auto& s) { return from(s); }, source_);
}

bool Store::checksums() const {
  const auto* const lmdb = std::get_if<LmdbSource>(&source_);
  return lmdb != nullptr && lmdb->values() == LmdbValues::records;
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
        if constexpr (is_lmdb<decltype(s)>) {
          return Reader(s.schema(), [r = std::shared_ptr<LmdbReader>(s.open_reader())](
                                        std::uint64_t i, SampleBuilder& out) { r->read(i, out); });
        } else {
          return Reader(s.schema(), [s](std::uint64_t i, SampleBuilder& out) { s.read(i, out); });
        }
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
