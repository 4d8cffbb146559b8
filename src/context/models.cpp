#include "context/models.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bough::context {
namespace {

enum class Maker : std::uint8_t { Anthropic, OpenAi, Google };

struct Name {
  std::string_view text;
  Maker maker;
};
constexpr Name kProviders[] = {{"anthropic", Maker::Anthropic},     {"claude", Maker::Anthropic},
                               {"openai", Maker::OpenAi},           {"openai-chat", Maker::OpenAi},
                               {"openai-responses", Maker::OpenAi}, {"codex", Maker::OpenAi},
                               {"google", Maker::Google},           {"gemini", Maker::Google}};
constexpr Name kPrefixes[] = {{"claude-", Maker::Anthropic}, {"gpt-", Maker::OpenAi},   {"chatgpt-", Maker::OpenAi},
                              {"codex-", Maker::OpenAi},     {"o1", Maker::OpenAi},     {"o3", Maker::OpenAi},
                              {"o4", Maker::OpenAi},         {"gemini-", Maker::Google}};

std::optional<Maker> makerOf(std::string_view model, std::string_view provider) {
  if (!provider.empty()) {
    const auto named = std::ranges::find(kProviders, provider, &Name::text);
    return named == std::end(kProviders) ? std::nullopt : std::optional(named->maker);
  }
  const auto known = std::ranges::find_if(kPrefixes, [&](const Name& name) { return model.starts_with(name.text); });
  return known == std::end(kPrefixes) ? std::nullopt : std::optional(known->maker);
}

}  // namespace

bool isForeignModel(std::string_view model, std::string_view provider, Dialect dialect) {
  const auto maker = makerOf(model, provider);
  if (model.empty() || !maker) return false;
  switch (dialect) {
    case Dialect::Anthropic: return *maker != Maker::Anthropic;
    case Dialect::OpenaiChat:
    case Dialect::OpenaiResponses: return *maker != Maker::OpenAi;
    case Dialect::Gemini: return *maker != Maker::Google;
    default: return false;
  }
}

}  // namespace bough::context
