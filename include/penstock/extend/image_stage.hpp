#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Memory of the runner for the stage in work. What it gives stays valid until that stage of that sample ends.
class PENSTOCK_API Scratch {
 public:
  virtual ~Scratch() = default;
  /// 64-byte aligned, content undefined. @throws Error(out_of_memory) above the runner's share of the byte budget.
  virtual std::byte* allocate(std::size_t bytes) = 0;
};

/// A stage that draws parameters and says what it does to an image:
///
///     Params draw(const ImageShape&, Rng&) const;                          Params: a small plain struct
///     void compose(const Params&, const ImageShape&, ImageOp&) const;
///
/// and, where they make sense,
///
///     Shape schema(const Shape& in) const;      [H, W, C] of the result as far as it is known; default: as `in`
///     bool resamples() const;                   whether it may resize; default: false. Where it does, images of 16
///                                               bits are refused when it joins a pipeline, not one by one
///     std::string name() const;                 default "image_stage"
///     std::string describe() const;             its result options, for plan() and the fingerprint
///     std::uint64_t version() const;            of its meaning, for the fingerprint
///     bool draws() const;                       whether `draw` draws; default: whether Params has members
template <class S>
concept ImageStage = requires(const S& stage, const ImageShape& shape, Rng& rng, ImageOp& op) {
  { stage.compose(stage.draw(shape, rng), shape, op) } -> std::same_as<void>;
};

/// Executes an ImageOp on pixels. `pixels` holds exactly `op.box`; `out` takes op.tensor_shape() elements of op.dtype,
/// contiguous. Any thread.
/// A Scratch of one's own must keep the promise of 64-byte alignment: kernels rely on it.
class PENSTOCK_API ImageExecutor {
 public:
  virtual ~ImageExecutor() = default;
  virtual void run(const Pixels& pixels, const ImageOp& op, std::byte* out, Scratch& scratch) const = 0;
};

/// Decodes one image at a time, for one runner. One thread at a time.
class PENSTOCK_API ImageDecoding {
 public:
  virtual ~ImageDecoding() = default;
  /// Reads the header and checks what it declares against the limits, before anything is allocated for pixels.
  /// `encoded` must stay until the next `open`. @throws Error(corrupt | unsupported | limit_exceeded).
  virtual ImageShape open(std::span<const std::byte> encoded) = 0;
  /// Decodes at least `box` of the opened image and returns exactly its pixels, bit for bit those of a full decode.
  /// They lie in `scratch`, or at `into` where that is not null and `box` is the whole image (then rows are
  /// contiguous). With `verify`, everything to the end of the data is decoded and checked.
  virtual Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) = 0;
};

/// A codec with its options. Any thread.
class PENSTOCK_API ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  virtual std::string name() const = 0;              ///< "decode_jpeg"
  virtual std::string describe() const = 0;          ///< result options, for plan() and the fingerprint
  virtual std::int64_t channels() const = 0;         ///< of every image, or `dynamic`
  virtual DType dtype() const { return DType::u8; }  ///< of every image: u8 or u16
  virtual std::unique_ptr<ImageDecoding> start() const = 0;
};

namespace detail {

/// An image stage of any type behind one interface. Parameters travel as up to 64 plain bytes.
class PENSTOCK_API ImageStageModel {
 public:
  static constexpr std::size_t max_params = 64;
  virtual ~ImageStageModel() = default;
  virtual void draw(const ImageShape& shape, Rng& rng, void* params) const = 0;
  virtual void compose(const void* params, const ImageShape& shape, ImageOp& op) const = 0;
  virtual Shape schema(const Shape& in, DType& dtype) const = 0;
  virtual std::string name() const = 0;
  virtual std::string describe() const = 0;
  virtual std::uint64_t version() const = 0;
  virtual bool draws() const = 0;
  virtual bool resamples() const = 0;
  virtual bool versioned() const = 0;  ///< it says which version it is
};

/// What `draw` gives is a plain struct that is small enough.
template <class S>
concept DrawsPlainParams = requires {
  requires std::is_trivially_copyable_v<std::remove_cvref_t<decltype(std::declval<const S&>().draw(
      std::declval<const ImageShape&>(), std::declval<Rng&>()))>>;
  requires sizeof(std::declval<const S&>().draw(std::declval<const ImageShape&>(), std::declval<Rng&>())) <=
      ImageStageModel::max_params;
};

template <class S>
class ImageStageOf final : public ImageStageModel {
  using Params = std::remove_cvref_t<decltype(std::declval<const S&>().draw(std::declval<const ImageShape&>(),
                                                                            std::declval<Rng&>()))>;
  static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= max_params,
                "penstock: draw() of an image stage must return a trivially copyable struct of at most 64 bytes");

 public:
  explicit ImageStageOf(S stage) : stage_(std::move(stage)) {}
  void draw(const ImageShape& shape, Rng& rng, void* params) const override {
    ::new (params) Params(stage_.draw(shape, rng));
  }
  void compose(const void* params, const ImageShape& shape, ImageOp& op) const override {
    stage_.compose(*static_cast<const Params*>(params), shape, op);
  }
  Shape schema(const Shape& in, DType& dtype) const override {
    if constexpr (requires { stage_.schema(in, dtype); })
      return stage_.schema(in, dtype);
    else if constexpr (requires {
                         { stage_.schema(in) } -> std::convertible_to<Shape>;
                       })
      return stage_.schema(in);
    else
      return in;
  }
  std::string name() const override {
    if constexpr (requires {
                    { stage_.name() } -> std::convertible_to<std::string>;
                  })
      return stage_.name();
    else
      return "image_stage";
  }
  std::string describe() const override {
    if constexpr (requires {
                    { stage_.describe() } -> std::convertible_to<std::string>;
                  })
      return stage_.describe();
    else
      return {};
  }
  std::uint64_t version() const override {
    if constexpr (requires {
                    { stage_.version() } -> std::convertible_to<std::uint64_t>;
                  })
      return stage_.version();
    else
      return 0;
  }
  bool draws() const override {
    if constexpr (requires {
                    { stage_.draws() } -> std::convertible_to<bool>;
                  })
      return stage_.draws();
    else
      return !std::is_empty_v<Params>;
  }
  bool resamples() const override {
    if constexpr (requires {
                    { stage_.resamples() } -> std::convertible_to<bool>;
                  })
      return stage_.resamples();
    else
      return false;
  }
  bool versioned() const override {
    return requires { stage_.version(); };
  }

 private:
  S stage_;
};

/// `executor` must live as long as the program (the built-in one does).
PENSTOCK_API Stage make_image_stage(ImageFields fields, std::shared_ptr<const ImageStageModel> model,
                                    const ImageExecutor& executor);
PENSTOCK_API Stage make_decode_stage(std::string field, std::shared_ptr<const ImageDecoder> decoder,
                                     const ImageExecutor& executor);

}  // namespace detail
}  // namespace penstock
