#include <cmath>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "stages/stage_model.hpp"

namespace penstock {

namespace detail {

Stage make_order(std::shared_ptr<const OrderModel> model, std::optional<std::uint64_t> seed) {
  return make_stage(OrderItem{std::move(model), seed});
}
Stage make_map(std::shared_ptr<const TransformModel> model) { return make_stage(MapItem{std::move(model)}); }
Stage make_field_map(std::string field, std::shared_ptr<const FieldMapModel> model, MapOptions options,
                     std::shared_ptr<const DeviceStageModel> on_batches) {
  return make_stage(FieldMapItem{std::move(field), std::move(model), std::move(options), std::move(on_batches)});
}
Stage make_filter(std::shared_ptr<const FilterModel> model, std::string field, DType dtype, std::size_t rank,
                  FilterOptions options) {
  return make_stage(FilterItem{std::move(model), std::move(field), dtype, rank, std::move(options)});
}
Stage make_flat_map(std::shared_ptr<const FlatMapModel> model) { return make_stage(FlatMapItem{std::move(model)}); }
Stage make_image_stage(ImageFields fields, std::shared_ptr<const ImageStageModel> model,
                       const ImageExecutor& executor) {
  return make_stage(ImageItem{std::move(fields), std::move(model), &executor});
}
Stage make_device_stage(std::shared_ptr<const DeviceStageModel> model) {
  return make_stage(DeviceStageItem{std::move(model)});
}

}  // namespace detail

Stage cache(std::shared_ptr<const CacheMaker> maker, CacheAllows allows) {
  if (maker == nullptr) throw Error(Errc::invalid_argument, "there is no maker of the cache").with_stage("cache");
  return detail::make_stage(detail::CacheItem{std::move(maker), allows});
}

Stage decode_stage(std::string field, std::shared_ptr<const ImageDecoder> decoder, const ImageExecutor& executor) {
  if (decoder == nullptr)
    throw Error(Errc::invalid_argument, "there is no decoder").with_stage("decode_stage(" + field + ")");
  return detail::make_stage(detail::DecodeItem{std::move(field), std::move(decoder), &executor});
}

Stage seed(std::uint64_t value) { return detail::make_stage(detail::SeedItem{value}); }

Stage ragged(std::string field) { return detail::make_stage(detail::CollateItem{std::move(field), Collate::ragged()}); }

Stage pad(std::string field, PadOptions options) {
  if (options.to < 0)
    throw Error(Errc::invalid_argument, "rows can't be padded to " + std::to_string(options.to) + " elements")
        .with_stage("pad(" + field + ")");
  return detail::make_stage(detail::CollateItem{std::move(field), Collate::pad(options.to, options.value)});
}

Stage bucket(std::string field, BucketOptions options) {
  if (options.window > detail::most_bucket_window)
    throw Error(Errc::invalid_argument,
                "a window has at most " + std::to_string(detail::most_bucket_window) + " samples")
        .with_stage("bucket(" + field + ")");
  return detail::make_stage(detail::BucketItem{std::move(field), options});
}

Stage batch(std::uint64_t rows, BatchOptions options) {
  if (rows == 0 || rows > (1u << 24))
    throw Error(Errc::invalid_argument, "a batch has 1 to 16,777,216 rows, not " + std::to_string(rows))
        .with_stage("batch");
  if (options.tokens.empty() != (options.max_tokens == 0))
    throw Error(Errc::invalid_argument,
                "`.tokens` and `.max_tokens` belong together: the field that is counted, and how far")
        .with_stage("batch");
  if ((options.max_tokens != 0 || options.max_bytes != 0) && options.tail != Tail::keep)
    throw Error(Errc::invalid_argument,
                "a batch that is bounded by tokens or bytes is complete with any number of rows: leave `.tail` as keep")
        .with_stage("batch");
  return detail::make_stage(detail::BatchItem{rows, std::move(options)});
}

Stage on_error(ErrorPolicy policy) {
  if (!(policy.max_share >= 0.0 && policy.max_share <= 1.0))
    throw Error(Errc::invalid_argument, "`max_share` is a share from 0 to 1").with_stage("on_error");
  return detail::make_stage(policy);
}

Stage check(CheckOptions options) {
  if (options.max_sample_bytes == 0)
    throw Error(Errc::invalid_argument, "`max_sample_bytes` must not be 0").with_stage("check");
  return detail::make_stage(options);
}

}  // namespace penstock
