#include "overlapping.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace penstock::gpu_bench {

BatchSize overlap_batch(const Settings& settings) {
  return {.rows = 64, .row_bytes = settings.quick ? std::int64_t{256} << 10 : std::int64_t{1} << 20};
}

std::uint64_t overlap_steps(const Settings& settings) { return settings.quick ? 40 : 80; }

Pipeline stamped_batches(const BatchSize& size, std::uint64_t steps) {
  return from(Stamped{.count = steps * size.rows, .row_bytes = size.row_bytes}) | batch(size.rows);
}

double Overlap::eta() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < together.size(); ++i)
    all.push_back((compute[i] + copies[i] - together[i]) / std::min(compute[i], copies[i]));
  return median_of(all);
}

double Overlap::against_longer() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < together.size(); ++i) all.push_back(together[i] / std::max(compute[i], copies[i]));
  return median_of(all);
}

void measure_round(Overlap& to, const BatchSize& size, const Load& load, const CudaStream& stream,
                   const std::function<double()>& together) {
  constexpr int times = 20;
  const Memory host(Kind::pinned, size.bytes()), device(Kind::device, size.bytes()), wrong(Kind::device, 8);
  settle();
  to.compute.push_back(time_on(stream, times,
                               [&] {
                                 check_rows(stream.handle(), device.data(), static_cast<std::size_t>(size.row_bytes),
                                            size.rows, 0, wrong.as<unsigned long long>());
                                 load.enqueue(stream.handle());
                               }) /
                       times);
  to.copies.push_back(time_on(stream, times, [&] { copy(device.data(), host.data(), size.bytes(), stream.handle()); }) /
                      times);
  to.together.push_back(together());
}

}  // namespace penstock::gpu_bench
