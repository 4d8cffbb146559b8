// Says where in its document a message and its blocks are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "message/model/history.h"

namespace bough::message {

/// The place of an original in its document: "messages[3]"; with the dialect before it when that is another document.
std::string pathOf(const Original& original);

/// The same with one block of it: "messages[3].content[1]". It remembers the message that was asked about last: of a
/// message's blocks, asked about in their order, each takes one step.
class BlockPaths {
 public:
  std::string of(const Original& original, const Block* block);

 private:
  // A value in a message of Chat: a member, or an element of it.
  struct Value {
    const char* begin = nullptr;
    json::Tree::Index key = 0;
    std::size_t element = kNone;
  };

  static constexpr std::size_t kNone = SIZE_MAX;

  std::size_t placeOf(const std::vector<Block>& blocks, std::size_t number);
  std::string placeInChat(const Original& original, const Block& block);
  void indexChat(const Original& original);

  const Block* blocks_ = nullptr;
  std::size_t number_ = 0;  // of the block that was asked about last
  std::size_t place_ = 0;   // where it is, as citations have no place of their own
  const json::Tree* tree_ = nullptr;
  json::Tree::Index node_ = 0;
  const char* text_ = nullptr;
  std::vector<Value> values_;  // in the message at `node_`, as they are in the text
  std::string inMessage_;
};

}  // namespace bough::message
