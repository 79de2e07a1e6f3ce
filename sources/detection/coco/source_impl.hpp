// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/schema.hpp>
#include <penstock/sources/coco.hpp>

#include "coco/coco_table.hpp"
#include "common/file_errors.hpp"
#include "common/lines/input_file.hpp"

namespace penstock {

namespace detection {

inline constexpr std::string_view coco_name = "coco";

}  // namespace detection

/// State that a source and its readers share. Immutable.
class CocoSource::Impl {
 public:
  explicit Impl(Coco coco_options);

  /// The slots of fields that differ between schemas.
  struct Slots {
    std::size_t crowd = 0, image_id = 0, masks = 0, keypoints = 0;
  };

  /// @throws Error(not_found) if there is no such record.
  void require(std::uint64_t index) const;
  std::string picture(std::uint64_t index) const;
  std::uint64_t identity() const;
  /// The text of the file of annotations; empty if nothing of it is read again.
  std::string_view text() const noexcept { return map_ ? map_->text() : std::string_view(); }

  Coco options;
  detection::CocoTable table;
  Schema schema;
  Slots slots;
  std::uint64_t file_revision = 0;

 private:
  std::optional<common::TextMap> map_;
  std::uint64_t content_ = 0;  // hash of the file and of the options
  mutable std::once_flag identity_once_;
  mutable std::uint64_t identity_ = 0;
};

}  // namespace penstock
