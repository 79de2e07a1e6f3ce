// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/feature_sink.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <penstock/extend/store_files.hpp>

#include "library/errors.hpp"
#include "sink/feature_file.hpp"
#include "sink/feature_list.hpp"

namespace penstock {

using hdf5::source_name;

namespace {

constexpr std::size_t longest_slide = 200;

void check_features(const FeatureSinkOptions& options) {
  const auto refuse = [&](std::string why) {
    throw hdf5::error_in(options.folder, Errc::invalid_argument, std::move(why));
  };
  if (options.folder.empty() || options.folder.find('\0') != std::string::npos) refuse("`folder` is empty");
  if (options.dtype != DType::f32 && options.dtype != DType::f16) refuse("`dtype` must be f32 or f16");
  if (options.chunk_rows == 0 || options.chunk_rows > (1u << 20)) refuse("`chunk_rows` must be 1 to 2^20");
  if (options.job.empty())
    refuse(
        "`job` must say what makes the features: the network, its weights, how slides are cut into tiles. Without it, "
        "what another one has left would be taken for this one's");
  if (options.job.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos) refuse("`job` must be one line");
}

std::string slides_folder(const FeatureSinkOptions& options) {
  std::string slides = (std::filesystem::path(options.folder) / "h5_files").string();
  make_folder(slides, source_name);
  return slides;
}

constexpr std::size_t max_attribute_bytes = 60'000;

std::size_t bytes_of_attribute(const std::string& text) { return text.size(); }
template <class T>
std::size_t bytes_of_attribute(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}
template <class T>
std::size_t bytes_of_attribute(const T&) {
  return sizeof(T);
}

}  // namespace

class FeatureSink::Impl {
 public:
  explicit Impl(FeatureSinkOptions options)
      : options_((check_features(options), std::move(options))),
        slides_(slides_folder(options_)),
        list_((std::filesystem::path(options_.folder) / "metadata.csv").string(), slides_, options_.sync) {
    list_.renew(options_.job, options_.dtype);
  }

  std::string file(std::string_view slide) const {
    const bool control = std::ranges::any_of(slide, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (slide.empty() || slide.size() > longest_slide || slide.front() == '.' || control ||
        slide.find_first_of("/\x7f") != std::string_view::npos)
      throw hdf5::error_in(
          options_.folder, Errc::invalid_argument,
          "the slide's name \"" + printable(slide) +
              "\" can't be a file's: it must have 1 to 200 bytes, not begin with '.', and have neither "
              "'/' nor control characters; give another one");
    return slides_ + "/" + std::string(slide) + ".h5";
  }

  bool has(std::string_view slide) const { return file_bytes(file(slide), source_name).has_value(); }

  void begin(std::string_view slide, const std::vector<FeatureAttribute>& attributes) {
    const std::string final_name = file(slide);
    const auto refuse = [&](const std::string& why) { throw hdf5::error_in(final_name, Errc::invalid_argument, why); };
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const FeatureAttribute& attribute = attributes[i];
      if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos)
        refuse("attribute " + std::to_string(i) + " has a name that HDF5 can't have: none, or one with a NUL");
      for (std::size_t before = 0; before < i; ++before)
        if (attributes[before].name == attribute.name)
          refuse("two attributes are named \"" + printable(attribute.name) + "\"");
      const std::size_t bytes =
          std::visit([](const auto& value) { return bytes_of_attribute(value); }, attribute.value);
      if (bytes > max_attribute_bytes)
        refuse("the attribute \"" + printable(attribute.name) + "\" has " + std::to_string(bytes) +
               " bytes; an HDF5 file's attributes hold 60,000");
    }
    if (writing_) refuse("the slide \"" + printable(slide_) + "\" is not at its end yet; end() or drop() it first");
    // The lock is taken before the search for the slide, because another process may just have finished the slide.
    lock_.emplace(final_name + partial);
    if (!lock_->take(source_name)) refuse(lock_holder(lock_->file()) + " is at this slide; take the next one");
    try {
      if (has(slide)) refuse("the slide is there already; ask has() first");
      slide_ = slide;
      failed_ = false;
      OutputFile(final_name + partial, 0, source_name).close();  // empties a file that an earlier run has left
      writing_.emplace(final_name + partial, options_, attributes, slide_);
    } catch (...) {
      lock_.reset();
      throw;
    }
  }

  void put(const TensorView& features, const TensorView& coords) {
    require_begun();
    guarded([&] { writing_->put(features, coords); });
  }

  void end() {
    require_begun();
    guarded([&] {
      const std::string whole = file(slide_) + partial;
      const hdf5::FeatureFacts facts = writing_->close();
      if (options_.sync) sync_file(whole, source_name);
      list_.end(slide_, facts, whole);
    });
    writing_.reset();
    lock_.reset();
  }

  void drop() noexcept {
    if (!writing_) return;
    try {
      writing_.reset();
      remove_file(file(slide_) + partial, source_name);
    } catch (...) {
      // If the file can't be removed, the next run empties it.
    }
    lock_.reset();
  }

 private:
  static constexpr const char* partial = ".partial";

  void require_begun() const {
    if (!writing_)
      throw hdf5::error_in(options_.folder, Errc::invalid_argument, "no slide was begun; begin(slide) comes first");
    if (failed_) throw hdf5::error_in(file(slide_), Errc::closed, "writing this slide failed before; drop() it");
  }
  // Calls `act`. An Error about tensors or values that don't fit is thrown before anything is written, so the slide can
  // continue. After any other error it can't.
  template <class Act>
  void guarded(const Act& act) {
    try {
      act();
    } catch (const Error& error) {
      failed_ = error.code() != Errc::schema_mismatch && error.code() != Errc::invalid_argument;
      throw;
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  const FeatureSinkOptions options_;
  const std::string slides_;
  hdf5::FeatureList list_;
  std::optional<MarkLock> lock_;
  std::string slide_;
  std::optional<hdf5::FeatureFile> writing_;
  bool failed_ = false;
};

FeatureSink::FeatureSink(FeatureSinkOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
FeatureSink::FeatureSink(FeatureSink&&) noexcept = default;
FeatureSink& FeatureSink::operator=(FeatureSink&&) noexcept = default;
FeatureSink::~FeatureSink() = default;

bool FeatureSink::has(std::string_view slide) const { return impl_->has(slide); }
void FeatureSink::begin(std::string_view slide, const std::vector<FeatureAttribute>& attributes) {
  impl_->begin(slide, attributes);
}
void FeatureSink::put(const TensorView& features, const TensorView& coords) { impl_->put(features, coords); }
void FeatureSink::end() { impl_->end(); }
void FeatureSink::drop() noexcept { impl_->drop(); }
std::string FeatureSink::file(std::string_view slide) const { return impl_->file(slide); }

}  // namespace penstock
