#include "catalog/outside/outside_reading.h"

#include <algorithm>
#include <utility>

#include "base/system/threads.h"

namespace bough::catalog {

unsigned OutsideReading::mostReaders() {
  constexpr unsigned kMostThreads = 8;
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
}

OutsideReading::OutsideReading(OutsideWalk walk) : walk_(std::move(walk)) {
  readers_ = startThreads(mostReaders(), [this](std::size_t) {
    failure_.guard([this] { read(); });
    if (failure_.failed()) found_.stop();
    told_.endGiving();
  });
  for (std::size_t i = readers_.size(); i < mostReaders(); ++i) told_.endGiving();
  if (!readers_.empty()) {
    auto walker = startThread("to look for files", [this] {
      failure_.guard([&] { walked_ = walk_([&](OutsideFile&& file) { return found_.push(std::move(file)); }); });
      found_.endGiving();
    });
    if (walker) {
      walker_ = std::move(*walker);
      return;
    }
  }
  found_.endGiving();
  readers_.clear();
  walked_ = walk_([&](OutsideFile&& file) {
    left_.push_back(std::move(file));
    return true;
  });
}

void OutsideReading::read() {
  for (auto file = found_.pop(); file; file = found_.pop()) {
    std::optional<Told> told;
    {
      const ByteBudget::Share share(budget_, file->sizeBytes);
      told = tellOutside({std::move(*file)});
    }
    if (!told_.push(std::move(*told))) break;
  }
}

std::optional<Told> OutsideReading::next() {
  if (auto told = told_.pop()) return told;
  if (failure_.failed()) {
    readers_.clear();
    walker_ = {};
    failure_.rethrow();
  }
  if (left_.empty()) return std::nullopt;
  OutsideFile file = std::move(left_.front());
  left_.pop_front();
  return tellOutside({std::move(file)});
}

OutsideReading::~OutsideReading() {
  found_.stop();
  told_.stop();
}

}  // namespace bough::catalog
