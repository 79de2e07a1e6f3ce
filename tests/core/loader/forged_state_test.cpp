// SPDX-License-Identifier: Apache-2.0
// States that somebody else wrote: the checksum is right, and what they say is not.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "core/help.hpp"
#include "core/reorder/reordered_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

struct Kind {
  const char* name;
  ps::Pipeline pipeline;
};
std::vector<Kind> forged_kinds() {
  const ps::Pipeline base = ps::from(Records{.count = 22}) | ps::shuffle() | AddDraw{};
  return {{"direct", base | ps::batch(4)},
          {"filter", base | even() | ps::batch(3)},
          {"flat_map", base | Parts{} | ps::batch(5)},
          {"buckets", base | even() | ps::bucket("y", {.window = 4}) | ps::batch(2)},
          {"steps", base | ps::batch(4) | ps::for_rank({.steps_per_epoch = 5})},
          {"steps of survivors", base | even() | ps::batch(4) | ps::for_rank({.steps_per_epoch = 5})},
          {"a rank", base | ps::batch(6) | ps::for_rank({.rank = 1, .world = 3})},
          {"a quota", base | ps::on_error({.policy = ps::OnError::mask, .max_count = 3}) | ps::batch(4)},
          {"stream", ps::from(Seeking{}) | ps::batch(3)}};
}

template <class Number>
void each_other(const ps::State& own, Number ps::State::*field, const std::function<void(const ps::State&)>& use) {
  constexpr Number most = std::numeric_limits<Number>::max();
  const Number was = own.*field;
  for (const Number other : {Number{0}, Number{1}, static_cast<Number>(was - 1), static_cast<Number>(was + 1),
                             static_cast<Number>(was + 1000), static_cast<Number>(most / 2),
                             static_cast<Number>(most / 2 + 1), static_cast<Number>(most - 1), most}) {
    ps::State forged = own;
    forged.*field = other;
    forged.check =
        static_cast<std::uint32_t>(XXH3_64bits_withSeed(&forged, offsetof(ps::State, check), 0x70656e73746f636b));
    use(forged);
  }
}

}  // namespace

TEST_CASE("a state of which a number is another is refused, or names batches, and does no harm") {
  const Watchdog dog(60s);
  for (const Kind& kind : forged_kinds()) {
    CAPTURE(kind.name);
    int refused = 0, resumed = 0;
    ps::Loader saved(kind.pipeline, {.threads = 1});
    for (int i = 0; i < 2; ++i) REQUIRE(saved.next());
    const ps::State own = saved.state();
    const auto resume = [&](const ps::State& forged) {
      CAPTURE(forged.window_batches, forged.child, forged.epoch, forged.number, forged.position, forged.step,
              forged.samples, forged.replaced);
      try {
        ps::Loader loader(kind.pipeline, {.threads = 2});
        loader.resume(forged);
        int batches = 0;
        for (const ps::Batch& batch : loader.epoch()) {
          CHECK(batch.size() > 0);
          if (++batches == 100) break;
        }
        CHECK((batches < 100 || kind.name == std::string_view("stream")));  // which has no end beyond its own
        (void)loader.state();
        ++resumed;
      } catch (const ps::Error&) {
        ++refused;
      }
    };
    resume(own);
    REQUIRE(resumed == 1);
    each_other(own, &ps::State::window_batches, resume);
    each_other(own, &ps::State::child, resume);
    each_other(own, &ps::State::epoch, resume);
    each_other(own, &ps::State::number, resume);
    each_other(own, &ps::State::position, resume);
    each_other(own, &ps::State::step, resume);
    each_other(own, &ps::State::samples, resume);
    each_other(own, &ps::State::replaced, resume);
    CHECK(resumed > 1);
    CHECK(refused > 1);
  }
}

}  // namespace PENSTOCK_TEST_FILE
