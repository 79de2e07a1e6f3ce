// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions that fail to compile, with one sentence that says why a type is not a source, a sink and so on. Without
/// them, the compiler would print an error about a concept.
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace penstock {

struct BatchView;
class Context;
class ImageOp;
struct ImageShape;
struct OrderPoint;
class Rng;
class Sample;
class SampleBuilder;
class Schema;
struct SinkItem;
struct SinkJob;
class StreamRef;

namespace detail {

template <class>
inline constexpr bool mistaken = false;

template <class S>
concept SaysSchema = requires(const S& source) {
  { source.schema() } -> std::convertible_to<Schema>;
};

template <class S>
constexpr void explain_schema() {
  if constexpr (
      requires(S & source) { source.schema(); } || requires { &S::schema; })
    static_assert(mistaken<S>,
                  "penstock: schema() of this source must be const and give a Schema: `Schema schema() const`");
  else
    static_assert(mistaken<S>,
                  "penstock: this source has no schema(), which names the fields of its records; add `Schema schema() "
                  "const`");
}

template <class S>
constexpr void explain_stream() {
  if constexpr (!SaysSchema<S>)
    explain_schema<S>();
  else if constexpr (!requires(S & source) { source.reset(std::uint64_t{}); })
    static_assert(mistaken<S>,
                  "penstock: this stream has no reset(), after which the next record is an epoch's first; add `void "
                  "reset(std::uint64_t epoch)`");
  else
    static_assert(mistaken<S>,
                  "penstock: next() of a stream is `bool next(SampleBuilder& out)`, and false at the epoch's end; its "
                  "reset() is `void reset(std::uint64_t epoch)`");
}

template <class S>
constexpr void explain_block_source() {
  using U = std::uint64_t;
  if constexpr (!SaysSchema<S>)
    explain_schema<S>();
  else if constexpr (!requires(const S& s) {
                       { s.size() } -> std::convertible_to<U>;
                     })
    static_assert(mistaken<S>,
                  "penstock: this source of blocks lacks `std::uint64_t size() const`, its records' number");
  else if constexpr (!requires(const S& s) {
                       { s.blocks() } -> std::convertible_to<U>;
                     })
    static_assert(mistaken<S>, "penstock: this source of blocks lacks `std::uint64_t blocks() const`, their number");
  else if constexpr (!requires(const S& s) {
                       { s.block_bytes(U{}) } -> std::convertible_to<U>;
                     })
    static_assert(mistaken<S>,
                  "penstock: this source of blocks lacks `std::uint64_t block_bytes(std::uint64_t block) const`");
  else if constexpr (!requires(const S& s, std::vector<U>& ids) {
                       { s.blocks_of(U{}, ids) } -> std::same_as<void>;
                     })
    static_assert(mistaken<S>,
                  "penstock: this source of blocks lacks `void blocks_of(std::uint64_t index, "
                  "std::vector<std::uint64_t>& ids) const`");
  else if constexpr (!requires(const S& s, std::span<std::byte> b) {
                       { s.load(U{}, b) } -> std::same_as<void>;
                     })
    static_assert(mistaken<S>,
                  "penstock: this source of blocks lacks `void load(std::uint64_t block, std::span<std::byte> bytes) "
                  "const`");
  else
    static_assert(mistaken<S>,
                  "penstock: read() of a source of blocks is `void read(std::uint64_t index, std::span<const "
                  "std::span<const std::byte>> blocks, SampleBuilder& out) const`");
}

/// For an argument of `from` or `share` that is not a source.
template <class S>
constexpr void explain_source() {
  using U = std::uint64_t;
  if constexpr (requires(S & s) { s->schema(); })
    static_assert(mistaken<S>,
                  "penstock: this is a pointer to a source; give the source itself, or share(source) to use one in "
                  "several places");
  else if constexpr (!std::is_class_v<S>)
    static_assert(mistaken<S>,
                  "penstock: a source is an object with size(), schema() and read(), like Lmdb{.path = \"...\"}; this "
                  "is none");
  else if constexpr (
      requires { &S::put; } && requires { &S::commit; })
    static_assert(mistaken<S>, "penstock: this is a sink, which is written to: write(pipeline, sink)");
  else if constexpr (requires { typename S::Source; })
    static_assert(mistaken<S>,
                  "penstock: the `Source` of these options must be a source, and have a constructor that takes them");
  else if constexpr (requires { &S::blocks_of; })
    explain_block_source<S>();
  else if constexpr (
      requires(S & s, SampleBuilder & out) { s.next(out); } || requires { &S::next; })
    explain_stream<S>();
  else if constexpr (!SaysSchema<S>)
    explain_schema<S>();
  else if constexpr (!requires(const S& s) {
                       { s.size() } -> std::convertible_to<U>;
                     })
    static_assert(mistaken<S>,
                  "penstock: this source does not say how many records it has; add `std::uint64_t size() const`");
  else if constexpr (requires(const S& s, SampleBuilder& out) { s.read(U{}, out); })
    static_assert(mistaken<S>, "penstock: read() of a source returns nothing; it fills the SampleBuilder");
  else if constexpr (requires(S & s, SampleBuilder & out) { s.read(U{}, out); })
    static_assert(mistaken<S>,
                  "penstock: read() of a source must be const, as any thread calls it at any time: `void "
                  "read(std::uint64_t index, SampleBuilder& out) const`; where reading changes something, have "
                  "`open_reader() const` give each thread a reader of its own");
  else if constexpr (requires(const S& s) { s.open_reader(); })
    static_assert(mistaken<S>,
                  "penstock: open_reader() gives a pointer, like std::unique_ptr, to a reader that has `void "
                  "read(std::uint64_t index, SampleBuilder& out)`");
  else if constexpr (requires(S & s) { s.open_reader(); })
    static_assert(mistaken<S>, "penstock: open_reader() of a source must be const, as any thread calls it");
  else if constexpr (requires { &S::read; })
    static_assert(mistaken<S>,
                  "penstock: read() of this source takes something else; it is `void read(std::uint64_t index, "
                  "SampleBuilder& out) const`");
  else
    static_assert(mistaken<S>,
                  "penstock: this source has no read(), which gives one record; add `void read(std::uint64_t index, "
                  "SampleBuilder& out) const`, or `open_reader() const` where reading needs state of its own");
}

/// For an argument of `write` that is not a sink.
template <class S>
constexpr void explain_sink() {
  if constexpr (std::is_const_v<S>)
    static_assert(mistaken<S>, "penstock: a sink is changed by write(); this one is const");
  else if constexpr (!requires(S & s, const SinkJob& job) {
                       { s.open(job) } -> std::same_as<void>;
                     })
    static_assert(mistaken<S>, "penstock: this sink lacks `void open(const SinkJob& job)`");
  else if constexpr (!requires(S & s, const SinkItem& item) {
                       { s.has(item) } -> std::same_as<bool>;
                     })
    static_assert(mistaken<S>, "penstock: this sink lacks `bool has(const SinkItem& item)`: is it stored already?");
  else if constexpr (!requires(S & s, const SinkItem& item, Sample& x) {
                       { s.put(item, x) } -> std::same_as<void>;
                     })
    static_assert(mistaken<S>, "penstock: this sink lacks `void put(const SinkItem& item, Sample& sample)`");
  else if constexpr (!requires(S & s) {
                       { s.commit() } -> std::same_as<void>;
                     })
    static_assert(mistaken<S>, "penstock: this sink lacks `void commit()`, after which what was put survives a crash");
  else if constexpr (!requires(S & s) {
                       { s.finish() } -> std::same_as<void>;
                     })
    static_assert(mistaken<S>, "penstock: this sink lacks `void finish()`, after which the store is complete");
  else
    static_assert(mistaken<S>, "penstock: this sink lacks `std::string name() const`, for errors");
}

/// For an argument of `order` that is not an order.
template <class O>
constexpr void explain_order() {
  using U = std::uint64_t;
  if constexpr (!requires(const O& o) {
                  { o.size(U{}) } -> std::convertible_to<U>;
                })
    static_assert(mistaken<O>,
                  "penstock: this order lacks `std::uint64_t size(std::uint64_t n) const`, the length of its result "
                  "over n records");
  else if constexpr (!requires(const O& o, std::span<OrderPoint> p) {
                       { o.fill(U{}, U{}, p) } -> std::same_as<void>;
                     })
    static_assert(mistaken<O>,
                  "penstock: this order lacks `void fill(std::uint64_t seed, std::uint64_t n, std::span<OrderPoint> "
                  "points) const`");
  else
    static_assert(mistaken<O>,
                  "penstock: this order lacks `std::string name() const` or `std::string describe() const`, which are "
                  "part of the fingerprint");
}

/// For an argument that `flat_map` can't take.
template <class F>
constexpr void explain_flat_map() {
  if constexpr (!requires(const F& f, const Sample& parent, Context& context) {
                  { f.count(parent, context) } -> std::convertible_to<std::uint32_t>;
                })
    static_assert(mistaken<F>,
                  "penstock: this flat map lacks `std::uint32_t count(const Sample& parent, Context& context) const`, "
                  "const, as any thread calls it");
  else
    static_assert(mistaken<F>,
                  "penstock: this flat map lacks `void child(const Sample& parent, std::uint32_t number, Sample& out, "
                  "Context& context) const`, const, as any thread calls it");
}

/// For an argument of `image_stage` that is not an image stage.
template <class S>
constexpr void explain_image_stage() {
  if constexpr (!requires(const S& s, const ImageShape& shape, Rng& rng) { s.draw(shape, rng); })
    static_assert(mistaken<S>,
                  "penstock: this image stage lacks, or has with another signature, `Params draw(const ImageShape& "
                  "shape, Rng& rng) const`; Params is a "
                  "plain struct, empty where nothing is drawn");
  else
    static_assert(mistaken<S>,
                  "penstock: this image stage lacks, or has with another signature, `void compose(const Params& "
                  "params, const ImageShape& shape, "
                  "ImageOp& op) const`, where Params is what its draw() returns");
}

/// For an argument of `device_stage` that is not a device stage.
template <class S>
constexpr void explain_device_stage() {
  if constexpr (!requires(const S& s, const Schema& in) {
                  { s.schema(in) } -> std::convertible_to<Schema>;
                })
    static_assert(
        mistaken<S>,
        "penstock: this device stage lacks `Schema schema(const Schema& in) const`, of one row of its result");
  else
    static_assert(
        mistaken<S>,
        "penstock: this device stage lacks `void run(BatchView in, BatchView out, StreamRef stream) const`, or "
        "<penstock/extend/device_stage.hpp> is not included");
}

/// For a type after `|`, or an argument of `map` on whole samples, that is neither a stage nor a transform.
template <class F>
constexpr void explain_stage() {
  if constexpr (requires(const F& f, Sample& s, Context& c) { f(s, c); })
    static_assert(mistaken<F>, "penstock: a transform returns nothing; it changes the Sample that it is given");
  else if constexpr (requires(F & f, Sample & s, Context & c) { f(s, c); })
    static_assert(
        mistaken<F>,
        "penstock: the call operator of a transform must be const, as any thread calls it at any time (a lambda "
        "must not be mutable); what it draws comes from its Context");
  else if constexpr (requires { &F::operator(); })
    static_assert(
        mistaken<F>,
        "penstock: a transform of whole samples is called with two arguments, `void operator()(Sample& sample, "
        "Context& context) const`; on one field it is map(\"field\", ...), and what leaves samples out is "
        "filter(...)");
  else if constexpr (
      requires { &F::count; } && requires { &F::child; })
    explain_flat_map<F>();
  else if constexpr (requires { &F::fill; })
    explain_order<F>();
  else if constexpr (requires { &F::compose; })
    static_assert(mistaken<F>,
                  "penstock: an image stage is told its field: image_stage(\"image\", stage), of "
                  "<penstock/transforms/image.hpp>");
  else if constexpr (requires { &F::run; })
    explain_device_stage<F>();
  else if constexpr (
      requires { &F::put; } && requires { &F::commit; })
    static_assert(mistaken<F>, "penstock: a sink stands in no pipeline: write(pipeline, sink)");
  else if constexpr (SaysSchema<F>)
    static_assert(mistaken<F>,
                  "penstock: a source begins a pipeline, from(source), and stands nowhere else; several become one by "
                  "concat, zip, interleave or mix");
  else
    static_assert(
        mistaken<F>,
        "penstock: this is no stage; after | stand stages, like shuffle() or map(...), or objects of your own: "
        "a transform has `void operator()(Sample& sample, Context& context) const`");
}

/// For a type before `|` that is not a pipeline.
template <class S>
constexpr void explain_beginning() {
  static_assert(mistaken<S>,
                "penstock: stages follow a pipeline, which begins with from(source): from(source) | stage");
}

/// For a pipeline in `from`; `S` is its type.
template <class S>
constexpr void explain_pipeline_in_from() {
  static_assert(mistaken<S>,
                "penstock: from() begins a pipeline over a source, and this is a pipeline already: put the next stage "
                "after it with |, or make it a part of a join, from(zip({{a}, {b, \"b_\"}}))");
}

/// For a pipeline after `|`; `S` is the type before `|`.
template <class S>
constexpr void explain_pipeline_after() {
  static_assert(mistaken<S>,
                "penstock: a pipeline stands before |, never after it: pipeline | stage; several sources become "
                "one by concat, zip, interleave or mix");
}

}  // namespace detail
}  // namespace penstock
