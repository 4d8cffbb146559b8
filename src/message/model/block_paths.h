// Finds the path of a message or a block in its document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "message/model/history.h"

namespace bough::message {

/// Returns the path of an original in its document: "messages[3]". The path begins with the dialect when it belongs to
/// a different document than the one that was read.
std::string pathOf(const Original& original);

/// Returns the path of a block: "messages[3].content[1]". Remembers the last message, so asking for the blocks of a
/// message in order takes one step per block.
class BlockPaths {
 public:
  std::string of(const Original& original, const Block* block);

 private:
  // A value in a message of Chat: a member, or an element of a member.
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
  std::size_t number_ = 0;  // the last block that was asked for
  std::size_t place_ = 0;   // its index in the document, where citations have no index of their own
  const json::Tree* tree_ = nullptr;
  json::Tree::Index node_ = 0;
  const char* text_ = nullptr;
  std::vector<Value> values_;  // of the message at `node_`, in the order of the text
  std::string inMessage_;
};

}  // namespace bough::message
