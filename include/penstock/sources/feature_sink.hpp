// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// Settings of a FeatureSink.
struct FeatureSinkOptions {
  // What most callers set.
  std::string folder;  ///< folder for `h5_files/<slide>.h5` and `metadata.csv`; created if missing
  // What changes results.
  DType dtype = DType::f32;       ///< type of the stored features: f32 or f16
  std::uint64_t chunk_rows = 32;  ///< features per chunk
  std::string encoder = {};       ///< name of the network, an attribute of `features`. Default (empty): no attribute
  /// What makes the features, in one line: the network, its weights, how slides are cut. Required. A folder is
  /// continued only with the same `job`.
  std::string job = {};
  // What changes only speed and memory.
  bool sync = true;  ///< if true, a slide that was ended also survives a crash of the whole machine
};

/// An attribute of a slide's file.
struct FeatureAttribute {
  /// Name of the attribute.
  std::string name;
  /// A number, a text, or several numbers.
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>> value;
};

/// Writes the features that a network makes of slides, one file per slide. Files have the layout of CLAM, which TRIDENT
/// also reads: `features` [N, D] in chunks of `chunk_rows`, and `coords` i64 [N, 2] with attributes. A loop that runs
/// the network uses it like this:
///
///     FeatureSink sink({.folder = "features", .job = "resnet50, ImageNet V2, tiles of 256"});
///     if (sink.has(slide)) continue;
///     sink.begin(slide, {{"patch_size", 256}, {"patch_level", 0}});
///     sink.put(features, coords);                            // for each batch
///     sink.end();
///
/// Until a slide's file is whole, its name ends in `.partial`. So a program that was killed can be run again: it calls
/// `has` to skip slides that were ended. `metadata.csv` has a line per slide (slide_id, file, features, dimension,
/// dtype, job). Lines that are missing after a kill are added when the folder is opened again. Several processes may
/// share a folder if each has its own slides. Only one thread may use a sink at a time.
class PENSTOCK_API FeatureSink {
 public:
  /// Opens the folder, or creates it.
  /// @throws Error(invalid_argument) if the options can't work, or the folder has slides of another job or dtype.
  /// @throws Error(io | corrupt).
  explicit FeatureSink(FeatureSinkOptions options);
  FeatureSink(FeatureSink&&) noexcept;
  FeatureSink& operator=(FeatureSink&&) noexcept;
  /// Gives up a slide that was not ended. Its `.partial` file stays, and is overwritten when the slide is begun again.
  ~FeatureSink();

  /// Returns true if any run or process has ended the slide.
  /// @throws Error(invalid_argument) if the name can't be a file's name: it is empty, is longer than 200 bytes, begins
  /// with '.', or has '/' or control characters.
  bool has(std::string_view slide) const;
  /// Begins a slide. `attributes` are written to the dataset `coords`. CLAM reads patch_size, patch_level and name.
  /// TRIDENT reads patch_size, patch_size_level0, level0_magnification, target_magnification, overlap and name. If the
  /// attribute `name` is not given, the slide's name is written.
  /// @throws Error(invalid_argument) if
  /// - the name can't be a file's name, like for `has`;
  /// - the slide was ended before, or another sink has begun it;
  /// - this sink has begun a slide that was neither ended nor dropped;
  /// - two attributes have the same name;
  /// - an attribute's name is empty or has a NUL, or its value has more than 60,000 bytes.
  /// @throws Error(io).
  void begin(std::string_view slide, const std::vector<FeatureAttribute>& attributes = {});
  /// Adds rows: `features` f32 or f16 [n, D], with the same D for the whole slide, and `coords` i64 [n, 2], x and y.
  /// After an Error(schema_mismatch) or Error(invalid_argument), none of the call's rows is stored, and the slide may
  /// continue with other rows.
  /// @throws Error(schema_mismatch) if the tensors have another form.
  /// @throws Error(invalid_argument) if no slide was begun, or a finite value would become an infinite f16.
  /// @throws Error(io) if the disk is full. Call `drop` after this error. Until then, `put` and `end` throw
  /// Error(closed).
  void put(const TensorView& features, const TensorView& coords);
  /// Ends the slide: completes its file, and gives the file its final name. Without a `put`, the features are [0, 0].
  /// @throws Error(invalid_argument) if no slide was begun; Error(io).
  void end();
  /// Gives up the slide that was begun, and deletes its `.partial` file. Does nothing if no slide was begun.
  void drop() noexcept;

  /// The path of a slide's file, which need not exist yet. @throws what `has` throws.
  std::string file(std::string_view slide) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
