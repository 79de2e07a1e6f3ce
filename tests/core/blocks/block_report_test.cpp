// What the report says of blocks that records share.
#include "support/catch.hpp"

#include <mutex>
#include <string>

#include "core/blocks/chunks.hpp"

using namespace help;

TEST_CASE("the report counts blocks that were decoded again in an epoch, and advises what is not done yet") {
  const Watchdog dog(30s);
  struct Said {
    std::string note;
    std::uint64_t decodes = 0, again = 0;
  };
  // `limit`: so many blocks.
  const auto run = [](auto stages, std::size_t limit, int epochs) {
    const Chunks source{.count = 256, .rows = true};
    const ps::Pipeline p = stages(ps::from(source)) | ps::batch(8);
    ps::Loader loader(p, {.threads = 2, .max_block_bytes = limit * source.block_bytes(0)});
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    loader.end_epoch();
    Said said;
    for (const std::string& note : loader.report().notes)
      if (note.find(" blocks were decoded for ") != std::string::npos) said.note = note;
    // The next epoch is being prepared.
    const std::lock_guard lock(source.shared->mutex);
    for (const auto& [block, times] : source.shared->loads) said.decodes += times;
    said.again = said.decodes - source.shared->loads.size();
    return said;
  };
  const auto has = [](const Said& said, const std::string& text) { return said.note.find(text) != std::string::npos; };
  const auto in_order = [](const ps::Pipeline& p) { return p; };
  const auto by_blocks = [](std::uint64_t window) {
    return [window](const ps::Pipeline& p) { return p | ps::shuffle({.blocks = true, .window_blocks = window}); };
  };
  const auto shuffled = [](const ps::Pipeline& p) { return p | ps::shuffle(); };
  const auto survivors = [](const ps::Pipeline& p) {
    return p | ps::shuffle() | ps::on_error({.policy = ps::OnError::drop});
  };
  // Once an epoch, in however many.
  for (const auto& said : {run(in_order, 2, 3), run(by_blocks(2), 8, 3), run(shuffled, 40, 1), run(survivors, 40, 1)}) {
    INFO(said.note);
    CHECK(has(said, ", none of them twice in an epoch"));
    CHECK_FALSE(has(said, "max_block_bytes"));
    CHECK_FALSE(has(said, ".blocks = true"));
  }
  for (const auto& said : {run(shuffled, 4, 1), run(survivors, 4, 1)}) {
    INFO(said.note);
    CHECK(said.again > 50);
    // What is prepared of the next epoch is not again.
    CHECK(has(said,
              " of them not for the first time in their epoch; `max_block_bytes` keeps more of them, and "
              "`shuffle({.blocks = true})` asks for fewer at a time"));
  }
  const Said wide = run(by_blocks(32), 4, 1);
  INFO(wide.note);
  CHECK(wide.again > 50);
  CHECK(has(wide, "; `max_block_bytes` keeps more of them, and fewer `.window_blocks` ask for fewer at a time"));
  CHECK_FALSE(has(wide, ".blocks = true"));
}
