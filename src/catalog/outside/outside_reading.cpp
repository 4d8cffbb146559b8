#include "catalog/outside/outside_reading.h"

#include <algorithm>

namespace bough::catalog {

unsigned OutsideReading::readers() {
  constexpr unsigned kMostThreads = 8;
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
}

OutsideReading::OutsideReading(OutsideWalk walk) {
  threads_.emplace_back([this, walk = std::move(walk)] {
    walked_ = walk([&](OutsideFile&& file) { return found_.push(std::move(file)); });
    found_.finish();
  });
  for (unsigned i = 0; i < readers(); ++i) {
    threads_.emplace_back([this] {
      for (auto file = found_.pop(); file; file = found_.pop()) {
        std::optional<Told> told;
        {
          const ByteBudget::Share share(budget_, file->sizeBytes);
          told = tellOutside({std::move(*file)});
        }
        if (!told_.push(std::move(*told))) break;
      }
      told_.finish();
    });
  }
}

OutsideReading::~OutsideReading() {
  found_.stop();
  told_.stop();
}

}  // namespace bough::catalog
