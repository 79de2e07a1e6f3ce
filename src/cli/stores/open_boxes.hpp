// SPDX-License-Identifier: Apache-2.0
// Pictures with boxes, in the layouts that other programs write.
#pragma once

#include <optional>
#include <string>

#include <penstock/sources/coco.hpp>
#include <penstock/sources/voc.hpp>
#include <penstock/sources/yolo.hpp>

namespace penstock::cli {

/// Opens a file of COCO's annotations. Looks for the pictures in the folders where programs put them.
/// @throws Error(not_found), with the folders, if the first picture is in none of them.
CocoSource open_coco(const std::string& path);

/// Returns the source if the folder has the folders `Annotations` and `JPEGImages`.
std::optional<VocSource> open_voc(const std::string& folder);

/// Returns the source if the folder has the folders `images` and `labels`, with text files in `labels`. Also if the
/// folder is `X/images`, or below it, and such files are in the same folder below `X/labels`.
std::optional<YoloSource> open_yolo(const std::string& folder);

}  // namespace penstock::cli
