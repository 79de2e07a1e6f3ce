// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/voc.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>

#include "boxes.hpp"
#include "common/class_words.hpp"
#include "common/file_errors.hpp"
#include "errors.hpp"
#include "picture_files.hpp"
#include "picture_names.hpp"
#include "voc/voc_annotation.hpp"

namespace penstock {

namespace {

constexpr std::string_view voc_name = "voc";
constexpr common::FileError voc_error{voc_name};

// Returns the first word of each line that has one.
std::vector<std::string> first_words(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view space = " \t\r";
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(space), line.size()));
    if (!line.empty()) words.emplace_back(line.substr(0, line.find_first_of(space)));
  }
  return words;
}

}  // namespace

class VocSource::Impl {
 public:
  explicit Impl(Voc voc_options) : options(std::move(voc_options)) {
    list_records();
    if (options.classes.empty()) find_classes();
    words_ = common::ClassWords(options.classes);
    if (const std::string* const name = words_.repeated())
      throw voc_error(options.root, Errc::invalid_argument, "`classes` name \"" + detection::shown(*name) + "\" twice");
  }

  std::uint64_t size() const noexcept { return records_.size(); }

  void require(std::uint64_t index) const {
    if (index >= size()) throw detection::no_such_record(index, size(), voc_name, options.root);
  }
  const std::string& key(std::uint64_t index) const { return records_[index].stem; }
  std::string picture(std::uint64_t index) const { return options.root + "/JPEGImages/" + records_[index].whole(); }
  std::string annotation(std::uint64_t index) const { return options.root + "/Annotations/" + key(index) + ".xml"; }

  void read(std::uint64_t index, SampleBuilder& out) const {
    require(index);
    try {
      detection::read_picture(picture(index), voc_name, out, 0);
      const std::vector<detection::VocObject> objects = objects_of(index);
      const auto count = static_cast<std::int64_t>(objects.size());
      float* box = out.emplace<float, 2>(1, Shape{count, detection::box_values}).data();
      std::int64_t* number = out.emplace<std::int64_t, 1>(2, Shape{count}).data();
      std::uint8_t* difficult = out.emplace<std::uint8_t, 1>(3, Shape{count}).data();
      for (const detection::VocObject& object : objects) {
        for (const float value : {object.x0, object.y0, object.x1, object.y1, detection::whole_share}) *box++ = value;
        *number++ = number_of(object, index);
        *difficult++ = object.difficult ? 1 : 0;
      }
    } catch (Error& error) {
      throw error.with_source(voc_name).with_file(picture(index)).with_index(index).with_key(key(index));
    }
  }

  std::uint64_t identity() const {
    std::call_once(identity_once_, [this] {
      std::uint64_t hash = size();
      for (const std::string& name : options.classes) hash = detection::hash_of_text(name, hash);
      for (std::uint64_t i = 0; i < size(); ++i) {
        hash = detection::hash_of_size(picture(i), records_[i].whole(), hash);
        hash = detection::hash_of_text(detection::read_annotations(annotation(i), voc_name), hash);
      }
      identity_ = hash;
    });
    return identity_;
  }

  std::uint64_t revision() const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < size(); ++i)
      hash = detection::hash_of_time(annotation(i), detection::hash_of_time(picture(i), hash));
    return hash;
  }

  Voc options;
  std::vector<std::string> notes;

 private:
  void list_records() {
    const std::string pictures_folder = options.root + "/JPEGImages";
    const detection::FileNames annotations(options.root + "/Annotations", {".xml"}, voc_name);
    const detection::FileNames pictures(pictures_folder, detection::picture_endings(), voc_name);
    annotations.add_note(notes);
    pictures.add_note(notes);
    const auto add = [&](const std::string& name) {
      const detection::FileName* const picture = pictures.find(name);
      if (picture == nullptr)
        throw voc_error(pictures_folder, Errc::not_found,
                        "there is no picture \"" + detection::shown(name) + "\", with an ending like .jpg, for \"" +
                            detection::shown(name) + ".xml\"")
            .with_key(name);
      records_.push_back(*picture);
    };
    if (options.list.empty()) {
      for (std::size_t i = 0; i < annotations.size(); ++i) add(annotations[i].stem);
      return;
    }
    std::unordered_set<std::string> named;
    for (const std::string& name : first_words(detection::read_annotations(options.list, voc_name))) {
      if (!named.insert(name).second)
        throw voc_error(options.list, Errc::invalid_argument, "it names \"" + detection::shown(name) + "\" twice");
      if (annotations.find(name) == nullptr)
        throw voc_error(options.list, Errc::invalid_argument,
                        "it names \"" + detection::shown(name) + "\", and there is no such file in " + options.root +
                            "/Annotations");
      add(name);
    }
  }

  std::vector<detection::VocObject> objects_of(std::uint64_t index) const {
    const std::string path = annotation(index);
    try {
      std::string text = detection::read_annotations(path, voc_name);
      return detection::read_voc(text);
    } catch (Error& error) {
      throw error.with_source(voc_name).with_file(path);
    }
  }

  void find_classes() {
    std::unordered_set<std::string> names;
    for (std::uint64_t i = 0; i < size(); ++i)
      for (detection::VocObject& object : objects_of(i)) names.insert(std::move(object.class_name));
    std::vector<std::string> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    options.classes = ClassNames(std::move(sorted));
  }

  std::int64_t number_of(const detection::VocObject& object, std::uint64_t index) const {
    const std::optional<std::int64_t> number = words_.number(object.class_name);
    if (number) return *number;
    throw Error(Errc::corrupt, "the class \"" + detection::shown(object.class_name) + "\" is not one of the " +
                                   options.classes.to_string())
        .with_file(annotation(index))
        .with_offset(object.offset);
  }

  std::vector<detection::FileName> records_;  // the pictures
  common::ClassWords words_;
  mutable std::once_flag identity_once_;
  mutable std::uint64_t identity_ = 0;
};

VocSource::VocSource(Voc options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t VocSource::size() const noexcept { return impl_->size(); }
Schema VocSource::schema() const {
  return Schema{{"image", DType::u8, {dynamic}},
                {"boxes", DType::f32, {dynamic, detection::box_values}},
                {"classes", DType::i64, {dynamic}, {}, impl_->options.classes},
                {"difficult", DType::u8, {dynamic}}};
}
void VocSource::read(std::uint64_t index, SampleBuilder& out) const { impl_->read(index, out); }
std::string VocSource::file() const { return impl_->options.root; }
std::string VocSource::file_of(std::uint64_t index) const {
  impl_->require(index);
  return impl_->picture(index);
}
std::string VocSource::key(std::uint64_t index) const {
  impl_->require(index);
  return impl_->key(index);
}
std::vector<std::string> VocSource::notes() const { return impl_->notes; }
std::uint64_t VocSource::identity() const { return impl_->identity(); }
std::uint64_t VocSource::revision() const { return impl_->revision(); }

}  // namespace penstock
