// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/sources/coco.hpp>

#include "boxes.hpp"
#include "coco/coco_entry.hpp"
#include "coco/segmentation.hpp"
#include "coco/source_impl.hpp"
#include "picture_files.hpp"

namespace penstock {

class CocoReader::Impl {
 public:
  using Store = CocoSource::Impl;

  explicit Impl(std::shared_ptr<const Store> store) : store_(std::move(store)) {}

  void read(std::uint64_t index, SampleBuilder& out) {
    store_->require(index);
    try {
      detection::read_picture(store_->picture(index), detection::coco_name, out, 0);
      give_objects(index, out);
    } catch (Error& error) {
      throw error.with_source(detection::coco_name)
          .with_file(store_->picture(index))
          .with_index(index)
          .with_key(store_->table.file_name(index));
    }
  }

 private:
  void give_objects(std::uint64_t index, SampleBuilder& out) {
    const detection::CocoTable& table = store_->table;
    const std::span<const std::uint32_t> objects = table.objects(index);
    const auto count = static_cast<std::int64_t>(objects.size());
    const bool with_crowd = store_->options.crowd == CocoCrowd::keep;
    float* box = out.emplace<float, 2>(1, Shape{count, detection::box_values}).data();
    std::int64_t* class_number = out.emplace<std::int64_t, 1>(2, Shape{count}).data();
    std::uint8_t* crowd = with_crowd ? out.emplace<std::uint8_t, 1>(store_->slots.crowd, Shape{count}).data() : nullptr;
    for (const std::uint32_t annotation : objects) {
      const detection::CocoObject& object = table.object(annotation);
      if (detection::area_of(object.x1 - object.x0, object.y1 - object.y0) == detection::BoxArea::negative)
        throw Error(Errc::corrupt,
                    "annotations[" + std::to_string(annotation) + "]: member \"bbox\": the width or height is negative")
            .with_offset(object.offset)
            .with_file(store_->options.annotations);
      for (const float number : {object.x0, object.y0, object.x1, object.y1, detection::whole_share}) *box++ = number;
      *class_number++ = object.category;
      if (with_crowd) *crowd++ = static_cast<std::uint8_t>(object.crowd);
    }
    out.scalar<std::int64_t>(store_->slots.image_id, table.image(index).id);
    if (store_->options.masks || store_->options.keypoints) give_shapes(index, objects, out);
  }

  // Gives masks and keypoints, which are parsed again.
  void give_shapes(std::uint64_t index, std::span<const std::uint32_t> objects, SampleBuilder& out) {
    const detection::CocoTable& table = store_->table;
    const detection::CocoImage& image = table.image(index);
    const auto count = static_cast<std::int64_t>(objects.size());
    detection::Mask mask{.height = image.height, .width = image.width};
    float* points = nullptr;
    if (store_->options.masks) {
      require_size(count, mask);
      const Shape shape{count, mask.height, mask.width};
      mask.pixels = out.emplace<std::uint8_t, 3>(store_->slots.masks, shape).data();
      if (count != 0) std::memset(mask.pixels, 0, static_cast<std::size_t>(shape.elements()));
    }
    if (store_->options.keypoints)
      points = out.emplace<float, 3>(store_->slots.keypoints, Shape{count, table.keypoints(), 3}).data();
    try {
      for (const std::uint32_t annotation : objects) {
        give_shape(annotation, mask, points);
        if (mask.pixels != nullptr) mask.pixels += mask.height * mask.width;
        if (points != nullptr) points += table.keypoints() * 3;
      }
    } catch (Error& error) {
      throw error.with_file(store_->options.annotations);
    }
  }

  void require_size(std::int64_t count, const detection::Mask& mask) const {
    const auto most = store_->options.max_mask_bytes;
    const std::uint64_t pixels = static_cast<std::uint64_t>(mask.height) * static_cast<std::uint64_t>(mask.width);
    if (count == 0 || pixels <= most / static_cast<std::uint64_t>(count)) return;
    throw Error(Errc::limit_exceeded, "the masks of " + std::to_string(count) + " objects in a picture of " +
                                          std::to_string(mask.height) + " x " + std::to_string(mask.width) +
                                          " have more than `max_mask_bytes`, " + std::to_string(most));
  }

  void give_shape(std::uint32_t annotation, const detection::Mask& mask, float* points) {
    using common::json::Cursor;
    using namespace std::string_view_literals;
    static constexpr std::array members{"segmentation"sv, "keypoints"sv};
    const std::uint64_t offset = store_->table.object(annotation).offset;
    Cursor cursor(store_->text(), Cursor::Whole::file, static_cast<std::size_t>(offset));
    detection::CocoEntry entry(cursor, "annotations", annotation);
    bool has_points = false;
    entry.each_member(members, [&](std::size_t member) {
      if (member == 0 && mask.pixels != nullptr) {
        painter_.draw(entry, mask);
      } else if (member == 1 && points != nullptr) {
        give_points(entry, points);
        has_points = true;
      } else {
        cursor.skip();
      }
    });
    if (mask.pixels != nullptr) entry.require_members(members, 1, offset);
    if (points != nullptr && !has_points) std::fill_n(points, store_->table.keypoints() * 3, 0.f);
  }

  void give_points(detection::CocoEntry& entry, float* points) const {
    const std::uint64_t offset = entry.require(common::json::Kind::array);
    const std::int64_t wanted = store_->table.keypoints() * 3;
    std::int64_t count = 0;
    entry.each_element([&] {
      if (count == wanted) entry.refuse("has more than " + std::to_string(wanted) + " numbers", offset);
      points[count++] = static_cast<float>(entry.number());
    });
    if (count != wanted)
      entry.refuse("has " + std::to_string(count) + " numbers, not " + std::to_string(wanted), offset);
  }

  std::shared_ptr<const Store> store_;
  detection::SegmentationPainter painter_;
};

CocoReader::CocoReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
CocoReader::~CocoReader() = default;
void CocoReader::read(std::uint64_t index, SampleBuilder& out) { impl_->read(index, out); }

std::unique_ptr<CocoReader> CocoSource::open_reader() const {
  return std::unique_ptr<CocoReader>(new CocoReader(std::make_unique<CocoReader::Impl>(impl_)));
}

}  // namespace penstock
