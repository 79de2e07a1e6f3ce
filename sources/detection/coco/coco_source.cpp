// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/coco.hpp>

#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "boxes.hpp"
#include "coco/source_impl.hpp"
#include "picture_files.hpp"

namespace penstock {

CocoSource::Impl::Impl(Coco coco_options) : options(std::move(coco_options)) {
  const common::FileMark mark = common::InputFile(options.annotations, detection::coco_name).mark();
  map_.emplace(options.annotations, mark, detection::coco_name);
  file_revision = penstock::file_revision(options.annotations);
  try {
    table = detection::CocoTable(map_->text(), options);
  } catch (Error& error) {
    throw error.with_source(detection::coco_name).with_file(options.annotations);
  }
  const std::uint64_t facts = (options.masks ? 1u : 0u) | (options.keypoints ? 2u : 0u) |
                              (options.without_boxes ? 4u : 0u) | (options.crowd == CocoCrowd::keep ? 8u : 0u);
  content_ = detection::hash_of_text(map_->text(), facts);

  schema = Schema{{"image", DType::u8, {dynamic}},
                  {"boxes", DType::f32, {dynamic, detection::box_values}},
                  {"classes", DType::i64, {dynamic}, {}, table.classes()}};
  const auto add = [this](Field field) {
    schema = schema.with(std::move(field));
    return schema.size() - 1;
  };
  if (options.crowd == CocoCrowd::keep) slots.crowd = add({"crowd", DType::u8, {dynamic}});
  slots.image_id = add({"image_id", DType::i64, {}});
  if (options.masks) slots.masks = add({"masks", DType::u8, {dynamic, dynamic, dynamic}});
  if (options.keypoints) slots.keypoints = add({"keypoints", DType::f32, {dynamic, table.keypoints(), 3}});
  if (!options.masks && !options.keypoints) map_.reset();
}

void CocoSource::Impl::require(std::uint64_t index) const {
  if (index >= table.size())
    throw detection::no_such_record(index, table.size(), detection::coco_name, options.annotations);
}

std::string CocoSource::Impl::picture(std::uint64_t index) const {
  return options.images + "/" + std::string(table.file_name(index));
}

std::uint64_t CocoSource::Impl::identity() const {
  std::call_once(identity_once_, [this] {
    identity_ = content_;
    for (std::uint64_t i = 0; i < table.size(); ++i)
      identity_ = detection::hash_of_size(picture(i), table.file_name(i), identity_);
  });
  return identity_;
}

CocoSource::CocoSource(Coco options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t CocoSource::size() const noexcept { return impl_->table.size(); }
Schema CocoSource::schema() const { return impl_->schema; }
std::string CocoSource::file() const { return impl_->options.annotations; }
std::vector<std::int64_t> CocoSource::category_ids() const { return impl_->table.category_ids(); }

std::string CocoSource::file_of(std::uint64_t index) const {
  impl_->require(index);
  return impl_->picture(index);
}

std::string CocoSource::key(std::uint64_t index) const {
  impl_->require(index);
  return std::string(impl_->table.file_name(index));
}

std::vector<std::string> CocoSource::notes() const {
  std::vector<std::string> notes;
  const detection::CocoTable::LeftOut& left_out = impl_->table.left_out();
  if (left_out.crowds != 0)
    notes.push_back("annotations of crowds that are left out: " + std::to_string(left_out.crowds) +
                    "; `.crowd = CocoCrowd::keep` keeps them");
  if (left_out.without_area != 0)
    notes.push_back("annotations that are left out because their boxes have no width or no height: " +
                    std::to_string(left_out.without_area));
  if (left_out.images != 0)
    notes.push_back("images that are left out because they have no objects: " + std::to_string(left_out.images));
  return notes;
}

std::uint64_t CocoSource::identity() const { return impl_->identity(); }

std::uint64_t CocoSource::revision() const {
  std::uint64_t hash = impl_->file_revision;
  for (std::uint64_t i = 0; i < size(); ++i) hash = detection::hash_of_time(impl_->picture(i), hash);
  return hash;
}

}  // namespace penstock
