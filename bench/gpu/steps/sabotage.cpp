// SPDX-License-Identifier: Apache-2.0
// 10. Sabotage. Late readers must see their own batch. A reader that breaks the rule of streams must be seen to read
// other batches. A kernel that destroys the GPU's context must end the loader with an error, and the process must end
// in order.
//
// tests/cuda/gpu_edges_test.cpp leaves out the loader's own waits, one kind at a time, because that needs the loader's
// private parts.
#include <functional>
#include <string>

#include "../batches.hpp"
#include "../gpu_process.hpp"
#include "../kernels.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr BatchSize late_batch{.rows = 16, .row_bytes = 256 << 10};
constexpr double late_s = 0.02;  // many batches are copied in that time

enum class Reader { asked_for, told, untold };

// Returns how many rows with wrong numbers were seen by a reader that comes 20 ms after each of its batches.
unsigned long long wrong_rows(Reader reader) {
  constexpr std::uint64_t steps = 24;
  const CudaStream asked, other;
  const Memory wrong(Kind::device, 8);
  {
    Loader loader(
        from(Stamped{.count = steps * late_batch.rows, .row_bytes = late_batch.row_bytes}) | batch(late_batch.rows),
        {.device = gpu(0), .epochs = 1});
    for (Batch& batch : loader.epoch(asked.ref())) {
      const cudaStream_t stream = reader == Reader::asked_for ? asked.handle() : other.handle();
      if (reader == Reader::told) batch.also_used_on(other.ref());
      delay(stream, late_s);
      check_rows(stream, batch["x"].data, static_cast<std::size_t>(late_batch.row_bytes), batch.size(),
                 batch.number() * late_batch.rows, wrong.as<unsigned long long>());
      // The loader waits only for readers that it knows. The memory must also outlive a reader that it does not know.
      if (reader == Reader::untold && batch.number() + 1 == steps) other.synchronize();
    }
  }
  asked.synchronize();
  other.synchronize();
  unsigned long long count = 0;
  must(cudaMemcpy(&count, wrong.data(), sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return count;
}

void readers(Results& results) {
  const auto row = [&](const std::string& name, Reader reader) {
    const auto count = static_cast<double>(wrong_rows(reader));
    results.raw()["sabotage"][name] = count;
    results.add({.name = name,
                 .ours = count,
                 .ratio = count,
                 .unit = "rows",
                 .gate = Gate::at_most,
                 .bound = 0,
                 .of_speed = false});
  };
  row("wrong rows, late reader on its stream", Reader::asked_for);
  row("wrong rows, late reader that was told of", Reader::told);
  const auto count = static_cast<double>(wrong_rows(Reader::untold));
  results.raw()["sabotage"]["untold"] = count;
  // The negative control: if it has no wrong row either, the two results above prove nothing.
  results.add({.name = "wrong rows, reader that was not told of",
               .ours = count,
               .ratio = count,
               .unit = "rows",
               .gate = Gate::at_least,
               .bound = 1,
               .of_speed = false});
}

}  // namespace

void sabotage(Results& results, const Settings&) {
  results.begin(10, "sabotage");
  readers(results);
  const ChildEnd end = run_child("trap", 60);
  results.raw()["sabotage"]["trap"]["said"] = end.said;
  results.raw()["sabotage"]["trap"]["status"] = end.words;
  results.note("a kernel's trap, in a child: " + end.said);
  if (end.exit_code == clean_exit)
    results.add({.name = "clean error and clean exit after a trap",
                 .ours = 1,
                 .against = 1,
                 .gate = Gate::at_least,
                 .bound = 1,
                 .of_speed = false});
  else
    results.failed("clean error and clean exit after a trap", end.words);
}

}  // namespace penstock::gpu_bench
