#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/detail/filter_model.hpp>
#include <penstock/detail/flat_map_model.hpp>
#include <penstock/detail/image_stage_model.hpp>
#include <penstock/detail/order_model.hpp>
#include <penstock/detail/transform_model.hpp>
#include <penstock/extend/cache.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/schema.hpp>
#include <penstock/shard.hpp>
#include <penstock/stages/batch.hpp>
#include <penstock/stages/cache.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/collate.hpp>
#include <penstock/stages/draw.hpp>
#include <penstock/stages/fields.hpp>
#include <penstock/stages/filter.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/stages/order.hpp>

namespace penstock::detail {

struct OrderItem {
  std::shared_ptr<const OrderModel> model;
  std::optional<std::uint64_t> seed;
  bool per_record = false;  ///< it knows something of each record by its position, which must not change
};
struct BlockShuffleItem {
  ShuffleOptions options;
};
struct SplitByKeyItem {
  SplitOptions options;
};
struct StratifiedSplitItem {
  SplitOptions options;
};
struct BalancedItem {
  std::string field;  ///< of the source: its labels
  BalancedOptions options;
};
struct SeedItem {
  std::uint64_t seed;
};
struct MapItem {
  std::shared_ptr<const TransformModel> model;
};
struct FieldMapItem {
  std::string field;
  std::shared_ptr<const FieldMapModel> model;
  MapOptions options;
  std::shared_ptr<const DeviceStageModel> on_batches;  ///< null: it stands before `batch` only
};
struct ImageItem {
  ImageFields fields;
  std::shared_ptr<const ImageStageModel> model;
  const ImageExecutor* executor;
};
struct DeviceStageItem {
  std::shared_ptr<const DeviceStageModel> model;
};
struct DecodeItem {
  std::string field;
  std::shared_ptr<const ImageDecoder> decoder;
  const ImageExecutor* executor;
};
struct SelectFieldsItem {
  std::vector<std::string> names;
};
struct DropFieldsItem {
  std::vector<std::string> names;
};
struct RenameItem {
  std::string from, to;
};
struct FilterItem {
  std::shared_ptr<const FilterModel> model;
  std::string field;  ///< empty: the whole sample
  DType dtype;        ///< of the field
  std::size_t rank;
  FilterOptions options;
};
struct CacheItem {
  std::shared_ptr<const CacheMaker> maker;
  CacheAllows allows;
};
struct FlatMapItem {
  std::shared_ptr<const FlatMapModel> model;
};
struct ShuffleItem {
  ShuffleOptions options;
};
struct CollateItem {
  std::string field;
  Collate collate;
};
/// Batches made of one window are counted in 16 bits.
inline constexpr std::uint64_t most_bucket_window = 65'535;
struct BucketItem {
  std::string field;
  BucketOptions options;
};
struct BatchItem {
  std::uint64_t rows;
  BatchOptions options;
  std::uint64_t enough_bytes = 0;  ///< a batch ends after the sample that makes it as large; 0 = not so
};

/// What a Stage holds.
struct StageModel {
  std::variant<OrderItem, SplitByKeyItem, StratifiedSplitItem, BalancedItem, SeedItem, MapItem, FieldMapItem, ImageItem,
               DeviceStageItem, DecodeItem, SelectFieldsItem, DropFieldsItem, RenameItem, FilterItem, FlatMapItem,
               CacheItem, ShuffleItem, BlockShuffleItem, CollateItem, BucketItem, BatchItem, ErrorPolicy, CheckOptions,
               Shard>
      item;
};

template <class Item>
Stage make_stage(Item item) {
  return Stage(std::make_shared<const StageModel>(StageModel{std::move(item)}));
}

}  // namespace penstock::detail
