// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/sources/coco.hpp>

#include "common/path_table.hpp"

namespace penstock::detection {

struct CocoImage {
  std::int64_t id = 0;
  std::uint64_t offset = 0;  // of the entry in the file
  std::uint32_t height = 0, width = 0;
};

struct CocoObject {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  std::uint64_t offset = 0;  // of the annotation in the file
  std::uint32_t image : 31 = 0, crowd : 1 = 0;
  std::int32_t category = 0;  // the number of the class
};

/// What a file of annotations says, except segmentations and keypoints.
class CocoTable {
 public:
  CocoTable() = default;
  /// Reads the text of a file. @throws Error(corrupt | unsupported | limit_exceeded | invalid_argument) without the
  /// file.
  CocoTable(std::string_view text, const Coco& options);

  /// Number of records.
  std::uint64_t size() const noexcept { return records_.size(); }
  const CocoImage& image(std::uint64_t record) const noexcept { return images_[records_[record]]; }
  /// `file_name` of the record.
  std::string_view file_name(std::uint64_t record) const noexcept { return names_[records_[record]]; }
  /// Positions of the record's annotations in the file's list.
  std::span<const std::uint32_t> objects(std::uint64_t record) const noexcept {
    const std::uint32_t image = records_[record];
    return std::span(objects_of_).subspan(first_[image], first_[image + 1] - first_[image]);
  }
  const CocoObject& object(std::uint32_t annotation) const noexcept { return all_[annotation]; }
  const ClassNames& classes() const noexcept { return classes_; }
  /// The `id` of each class's category.
  const std::vector<std::int64_t>& category_ids() const noexcept { return category_ids_; }
  /// Number of points that the categories list.
  std::int64_t keypoints() const noexcept { return keypoints_; }

  /// How much was left out, and why.
  struct LeftOut {
    std::uint64_t crowds = 0, without_area = 0, images = 0;
  };
  const LeftOut& left_out() const noexcept { return left_out_; }

 private:
  friend class CocoScan;

  // The lists of annotations grow without being copied.
  std::deque<CocoObject> all_;
  std::vector<CocoImage> images_;
  common::PathTable names_;                // of images
  std::vector<std::uint64_t> first_;       // by image: its first entry in `objects_of_`; one more at the end
  std::vector<std::uint32_t> objects_of_;  // positions in `all_`, image by image
  std::vector<std::uint32_t> records_;     // positions in `images_`
  ClassNames classes_;
  std::vector<std::int64_t> category_ids_;
  std::int64_t keypoints_ = 0;
  LeftOut left_out_;
};

}  // namespace penstock::detection
