// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/yolo.hpp>

#include <mutex>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "boxes.hpp"
#include "common/file_errors.hpp"
#include "picture_files.hpp"
#include "picture_names.hpp"
#include "yolo/yolo_labels.hpp"

namespace penstock {

namespace {

constexpr std::string_view yolo_name = "yolo";

}  // namespace

class YoloSource::Impl {
 public:
  explicit Impl(Yolo yolo_options)
      : options(std::move(yolo_options)),
        pictures_(options.images, detection::picture_endings(), yolo_name),
        labels_(options.labels, {".txt"}, yolo_name) {
    if (size() != 0 && count_without_labels() == size())
      throw common::FileError{yolo_name}(
          options.labels, Errc::invalid_argument,
          "none of the " + std::to_string(size()) +
              " pictures has a file of labels here; is it the right folder? For pictures "
              "without objects, use Files");
    if (options.names.empty()) return;
    if (!options.classes.empty())
      throw common::FileError{yolo_name}(options.names, Errc::invalid_argument,
                                         "classes come from `classes` or from the file `names`; say one");
    if (options.names.ends_with(".yaml") || options.names.ends_with(".yml"))
      throw common::FileError{yolo_name}(
          options.names, Errc::unsupported,
          "`names` is a text file with the name of one class per line, and this is YAML; "
          "give the names in `classes`");
    options.classes = ClassNames::from_lines(detection::read_annotations(options.names, yolo_name));
  }

  std::uint64_t size() const noexcept { return pictures_.size(); }
  void require(std::uint64_t index) const {
    if (index >= size()) throw detection::no_such_record(index, size(), yolo_name, options.images);
  }
  const std::string& key(std::uint64_t index) const { return pictures_[index].stem; }
  std::string picture(std::uint64_t index) const { return options.images + "/" + pictures_[index].whole(); }

  void read(std::uint64_t index, SampleBuilder& out) const {
    require(index);
    try {
      detection::read_picture(picture(index), yolo_name, out, 0);
      const std::vector<detection::YoloObject> objects = objects_of(index);
      const auto count = static_cast<std::int64_t>(objects.size());
      float* box = out.emplace<float, 2>(1, Shape{count, detection::box_values}).data();
      std::int64_t* number = out.emplace<std::int64_t, 1>(2, Shape{count}).data();
      for (const detection::YoloObject& object : objects) {
        for (const float value : object.box) *box++ = value;
        *box++ = detection::whole_share;
        *number++ = object.class_number;
      }
    } catch (Error& error) {
      throw error.with_source(yolo_name).with_file(picture(index)).with_index(index).with_key(key(index));
    }
  }

  std::vector<std::string> notes() const {
    const std::uint64_t without_labels = count_without_labels();
    std::uint64_t without_picture = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) without_picture += pictures_.find(labels_[i].stem) == nullptr;
    std::vector<std::string> notes;
    if (without_labels != 0)
      notes.push_back(std::to_string(without_labels) + " of " + std::to_string(size()) +
                      " pictures have no file of labels, so they have no objects");
    if (without_picture != 0)
      notes.push_back(std::to_string(without_picture) + " of " + std::to_string(labels_.size()) +
                      " files of labels have no picture");
    pictures_.add_note(notes);
    labels_.add_note(notes);
    return notes;
  }

  std::uint64_t identity() const {
    std::call_once(identity_once_, [this] {
      std::uint64_t hash = size();
      for (const std::string& name : options.classes) hash = detection::hash_of_text(name, hash);
      for (std::uint64_t i = 0; i < size(); ++i) {
        hash = detection::hash_of_size(picture(i), pictures_[i].whole(), hash);
        if (const detection::FileName* const file = labels_.find(key(i)))
          hash = detection::hash_of_text(detection::read_annotations(labels(*file), yolo_name), hash);
      }
      identity_ = hash;
    });
    return identity_;
  }

  std::uint64_t revision() const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < size(); ++i) {
      hash = detection::hash_of_time(picture(i), hash);
      if (const detection::FileName* const file = labels_.find(key(i)))
        hash = detection::hash_of_time(labels(*file), hash);
    }
    return hash;
  }

  Yolo options;

 private:
  std::uint64_t count_without_labels() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < pictures_.size(); ++i) count += labels_.find(pictures_[i].stem) == nullptr;
    return count;
  }
  std::string labels(const detection::FileName& file) const { return options.labels + "/" + file.whole(); }

  std::vector<detection::YoloObject> objects_of(std::uint64_t index) const {
    const detection::FileName* const file = labels_.find(key(index));
    if (file == nullptr) return {};
    const std::string path = labels(*file);
    try {
      return detection::read_yolo(detection::read_annotations(path, yolo_name), options.classes);
    } catch (Error& error) {
      throw error.with_source(yolo_name).with_file(path);
    }
  }

  detection::FileNames pictures_, labels_;
  mutable std::once_flag identity_once_;
  mutable std::uint64_t identity_ = 0;
};

YoloSource::YoloSource(Yolo options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t YoloSource::size() const noexcept { return impl_->size(); }
Schema YoloSource::schema() const {
  return Schema{{"image", DType::u8, {dynamic}},
                {"boxes", DType::f32, {dynamic, detection::box_values}},
                {"classes", DType::i64, {dynamic}, {}, impl_->options.classes}};
}
void YoloSource::read(std::uint64_t index, SampleBuilder& out) const { impl_->read(index, out); }
std::string YoloSource::file() const { return impl_->options.images; }
std::string YoloSource::file_of(std::uint64_t index) const {
  impl_->require(index);
  return impl_->picture(index);
}
std::string YoloSource::key(std::uint64_t index) const {
  impl_->require(index);
  return impl_->key(index);
}
std::vector<std::string> YoloSource::notes() const { return impl_->notes(); }
std::uint64_t YoloSource::identity() const { return impl_->identity(); }
std::uint64_t YoloSource::revision() const { return impl_->revision(); }

}  // namespace penstock
