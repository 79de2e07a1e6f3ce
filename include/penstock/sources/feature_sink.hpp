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
  std::string folder;  ///< gets `h5_files/<slide>.h5` and `metadata.csv`; made where missing
  // What changes results.
  DType dtype = DType::f32;       ///< type of the features as they are stored: f32 or f16
  std::uint64_t chunk_rows = 32;  ///< features a chunk
  std::string encoder = {};       ///< name of the network, an attribute of `features`; empty: none
  std::string job = {};           ///< what makes the features, in a line, which must be said: the network, its weights,
                                  ///< how slides are cut. A folder is only continued by the same
  // What changes only speed.
  bool sync = true;  ///< a slide that was ended survives a crash of the whole machine too
};

/// An attribute of a slide's file.
struct FeatureAttribute {
  /// Name of the attribute.
  std::string name;
  /// A number, a text, or several numbers.
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>> value;
};

/// Keeps what a network makes of slides, a file a slide, in the layout of CLAM that TRIDENT reads as well: `features`
/// [N, D] in chunks of `chunk_rows`, and `coords` i64 [N, 2] with attributes. For the loop that runs the network:
///
///     FeatureSink sink({.folder = "features", .job = "resnet50, ImageNet V2, tiles of 256"});
///     if (sink.has(slide)) continue;
///     sink.begin(slide, {{"patch_size", 256}, {"patch_level", 0}});
///     sink.put(features, coords);                            // for each batch
///     sink.end();
///
/// A slide's file has its name once it is whole, so that a run that was killed is continued by asking `has`; until then
/// it ends in `.partial`. `metadata.csv` has a line a slide (slide_id, file, features, dimension, dtype, job); lines
/// that a kill has left out are made up for when the folder is opened again. Several processes may share a folder, each
/// with slides of its own. One thread at a time.
class PENSTOCK_API FeatureSink {
 public:
  /// @throws Error(invalid_argument) for options that can't work and where the folder has slides of another job or
  /// dtype; Error(io | corrupt).
  explicit FeatureSink(FeatureSinkOptions options);
  FeatureSink(FeatureSink&&) noexcept;
  FeatureSink& operator=(FeatureSink&&) noexcept;
  /// A slide that was not ended is lost.
  ~FeatureSink();

  /// True for a slide that was ended, by whatever run or process. @throws Error(invalid_argument) for a name that can't
  /// be a file's: empty, longer than 200 bytes, beginning with '.', or with '/' or control characters in it.
  bool has(std::string_view slide) const;
  /// Attributes are those of `coords`; CLAM reads patch_size, patch_level and name, TRIDENT patch_size,
  /// patch_size_level0, level0_magnification, target_magnification, overlap and name. `name`, where none is given, is
  /// the slide's. @throws Error(invalid_argument) for a name as above, a slide that is there or begun, also by another
  /// process, and attributes of one name, without a name or above 60,000 bytes; Error(io).
  void begin(std::string_view slide, const std::vector<FeatureAttribute>& attributes = {});
  /// `features` f32 or f16 [n, D] with one D a slide, `coords` i64 [n, 2], x and y. @throws Error(schema_mismatch) for
  /// others, and Error(invalid_argument) for a finite value that would be stored as an infinite f16: none of these rows
  /// is stored then, and the slide may go on with others; Error(io) when the disk is full: then `drop` it.
  void put(const TensorView& features, const TensorView& coords);
  /// The slide is whole; one that nothing was put for has features [0, 0]. @throws Error(io).
  void end();
  /// Gives up the slide that was begun, if one was.
  void drop() noexcept;

  /// Where a slide is, or will be. @throws as `has`.
  std::string file(std::string_view slide) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
