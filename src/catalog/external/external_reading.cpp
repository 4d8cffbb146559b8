#include "catalog/external/external_reading.h"

#include <algorithm>
#include <utility>

#include "base/system/threads.h"

namespace bough::catalog {

unsigned ExternalReading::maxReaders() {
  constexpr unsigned kMaxThreads = 8;
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
}

ExternalReading::ExternalReading(ExternalWalk walk) : walk_(std::move(walk)) {
  readers_ = startThreads(maxReaders(), [this](std::size_t) {
    failure_.guard([this] { read(); });
    if (failure_.failed()) found_.stop();
    sessions_.producerDone();
  });
  for (std::size_t i = readers_.size(); i < maxReaders(); ++i) sessions_.producerDone();
  if (!readers_.empty()) {
    auto walker = startThread("to look for files", [this] {
      failure_.guard([&] { walked_ = walk_([&](ExternalFile&& file) { return found_.push(std::move(file)); }); });
      found_.producerDone();
    });
    if (walker) {
      walker_ = std::move(*walker);
      return;
    }
  }
  found_.producerDone();
  readers_.clear();
  walked_ = walk_([&](ExternalFile&& file) {
    unread_.push_back(std::move(file));
    return true;
  });
}

void ExternalReading::read() {
  for (auto file = found_.pop(); file; file = found_.pop()) {
    std::optional<ExternalSession> session;
    {
      const ByteBudget::Share share(budget_, file->sizeBytes);
      session = readExternalSession({std::move(*file)});
    }
    if (!sessions_.push(std::move(*session))) break;
  }
}

std::optional<ExternalSession> ExternalReading::next() {
  if (auto session = sessions_.pop()) return session;
  if (failure_.failed()) {
    readers_.clear();
    walker_ = {};
    failure_.rethrow();
  }
  if (unread_.empty()) return std::nullopt;
  ExternalFile file = std::move(unread_.front());
  unread_.pop_front();
  return readExternalSession({std::move(file)});
}

ExternalReading::~ExternalReading() {
  found_.stop();
  sessions_.stop();
}

}  // namespace bough::catalog
