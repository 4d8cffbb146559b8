#include "agent/providers/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agent/providers/http_provider.h"
#include "agent/providers/offline.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/agent/tools.h"

namespace bough::agent {
namespace {

struct KnownProvider {
  std::string_view name;
  Dialect dialect;
  std::string_view baseUrl;
  std::string_view baseUrlVariable;
  std::vector<std::string> keyVariables;  // the first one that is set counts; empty: no key is needed
  std::string_view suggestedModel;
};

const std::vector<KnownProvider>& knownProviders() {
  static const std::vector<KnownProvider> kProviders = {
      {"anthropic",
       Dialect::Anthropic,
       "https://api.anthropic.com",
       "ANTHROPIC_BASE_URL",
       {"ANTHROPIC_API_KEY"},
       "claude-sonnet-5-5"},
      {"openai",
       Dialect::OpenaiResponses,
       "https://api.openai.com/v1",
       "OPENAI_BASE_URL",
       {"OPENAI_API_KEY"},
       "gpt-5.6-sol"},
      {"openai-chat",
       Dialect::OpenaiChat,
       "https://api.openai.com/v1",
       "OPENAI_BASE_URL",
       {"OPENAI_API_KEY"},
       "gpt-5.6-terra"},
      {"gemini",
       Dialect::Gemini,
       "https://generativelanguage.googleapis.com",
       "GOOGLE_GEMINI_BASE_URL",
       {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
       "gemini-3.8-flash"},
      {"openrouter",
       Dialect::OpenaiChat,
       "https://openrouter.ai/api/v1",
       "OPENROUTER_BASE_URL",
       {"OPENROUTER_API_KEY"},
       "openrouter/auto"},
      {"ollama", Dialect::OpenaiChat, "http://127.0.0.1:11434", "OLLAMA_HOST", {}, "llama3.2"},
      {"local", Dialect::OpenaiChat, "http://127.0.0.1:8080/v1", "BOUGH_LOCAL_BASE_URL", {}, "default"},
  };
  return kProviders;
}

// The user's providers come first: they replace built-in ones of the same name.
std::vector<KnownProvider> allProviders(const std::vector<OwnProvider>& own) {
  std::vector<KnownProvider> all;
  for (const OwnProvider& each : own) {
    KnownProvider provider{.name = each.name,
                           .dialect = each.dialect,
                           .baseUrl = each.baseUrl,
                           .baseUrlVariable = {},
                           .keyVariables = {},
                           .suggestedModel = {}};
    if (!each.keyVariable.empty()) provider.keyVariables.push_back(each.keyVariable);
    all.push_back(std::move(provider));
  }
  std::ranges::copy(knownProviders(), std::back_inserter(all));
  return all;
}

// Returns how names of a provider's models begin in the model table; empty when they can be anything.
std::vector<std::string_view> modelNamePrefixesOf(std::string_view provider) {
  if (provider == "anthropic") return {"claude-"};
  if (provider == "openai" || provider == "openai-chat") return {"gpt-", "o1", "o3", "o4"};
  if (provider == "gemini") return {"gemini-"};
  return {};
}

bool isModelNameOf(std::string_view provider, std::string_view model) {
  const auto begins = [&](std::string_view text) { return model.starts_with(text); };
  return !hasOpenWeights(model) && std::ranges::any_of(modelNamePrefixesOf(provider), begins);
}

std::string keyOf(const KnownProvider& provider, const Variables& variables, std::string* variable = nullptr) {
  for (const std::string& name : provider.keyVariables) {
    if (std::string key = variables(name); !key.empty()) {
      if (variable != nullptr) *variable = name;
      return key;
    }
  }
  return {};
}

// OLLAMA_HOST is a host with an optional port and scheme; the API is below /v1.
std::string ollamaUrl(std::string host) {
  if (host.find("://") == std::string::npos) host = "http://" + host;
  if (host.find(':', host.find("://") + 3) == std::string::npos) host += ":11434";
  while (host.ends_with('/')) host.pop_back();
  return host.ends_with("/v1") ? host : host + "/v1";
}

// Rejects characters that could break out of a header or a path.
bool isCleanText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c != 0x7F; });
}

}  // namespace

std::string environmentVariable(const std::string& name) {
  return bough::environmentVariable(name);
}

const std::vector<std::string>& providerNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"offline"};
    for (const KnownProvider& provider : knownProviders()) names.emplace_back(provider.name);
    return names;
  }();
  return kNames;
}

Result<Endpoint> findEndpoint(const std::string& name, const Variables& variables,
                              const std::vector<OwnProvider>& own) {
  const std::size_t slash = name.find('/');
  const std::string provider = name.substr(0, slash);
  const std::vector<KnownProvider> known = allProviders(own);
  const auto found = std::ranges::find(known, provider, &KnownProvider::name);
  if (slash == std::string::npos || slash + 1 == name.size() || found == known.end() || !isCleanText(name)) {
    std::vector<std::string> names = providerNames();
    for (const OwnProvider& each : own) names.push_back(each.name);
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not the name of a model", name),
                fmt::format("write PROVIDER/MODEL, for example {}/{}; the providers are {}", knownProviders()[0].name,
                            knownProviders()[0].suggestedModel, fmt::join(names, ", ")));
  }
  Endpoint endpoint{.provider = provider, .model = name.substr(slash + 1), .dialect = found->dialect};
  endpoint.key = keyOf(*found, variables, &endpoint.keyVariable);
  if (!isCleanText(endpoint.key)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} holds blanks or line ends", endpoint.keyVariable),
                "set it to the key alone");
  }
  if (endpoint.key.empty() && !found->keyVariables.empty()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("there is no key for {}", provider),
                fmt::format("set {}, or choose another model with --model; {} needs no key",
                            fmt::join(found->keyVariables, " or "), kOfflineModel));
  }
  BOUGH_TRY(const ModelTable table, ModelTable::read(variables("BOUGH_MODELS")));
  endpoint.facts = table.find(endpoint.model);
  const std::string url =
      found->baseUrlVariable.empty() ? std::string() : variables(std::string(found->baseUrlVariable));
  endpoint.baseUrl = url.empty() ? std::string(found->baseUrl) : url;
  if (provider == "ollama") endpoint.baseUrl = ollamaUrl(endpoint.baseUrl);
  return endpoint;
}

std::string_view providerOfModel(std::string_view model, std::optional<Dialect> dialect) {
  if (dialect == Dialect::Bough || dialect == Dialect::Plain) dialect.reset();  // these belong to no provider's API
  for (const KnownProvider& provider : knownProviders()) {
    if (dialect && *dialect != provider.dialect) continue;
    if (isModelNameOf(provider.name, model)) return provider.name;
  }
  return {};
}

bool hasOpenWeights(std::string_view model) {
  return model.starts_with("gpt-oss");
}

std::string_view providerOfDialect(Dialect dialect) {
  switch (dialect) {
    case Dialect::Anthropic: return "anthropic";
    case Dialect::OpenaiChat:
    case Dialect::OpenaiResponses: return "openai";
    case Dialect::Gemini: return "gemini";
    case Dialect::Bough:
    case Dialect::Plain: break;
  }
  return {};
}

bool isSameProvider(std::string_view name, std::string_view other) {
  const auto house = [](std::string_view each) { return each == "openai-chat" ? "openai" : each; };
  return house(name) == house(other);
}

bool mayUseDialectOf(std::string_view name, std::string_view maker) {
  const auto found = std::ranges::find(knownProviders(), name, &KnownProvider::name);
  return found == knownProviders().end() || providerOfDialect(found->dialect) == maker;
}

std::string_view modelTableText() {
  return ModelTable::builtInText();
}

std::string defaultModel(const Variables& variables) {
  if (std::string chosen = variables("BOUGH_MODEL"); !chosen.empty()) return chosen;
  for (const KnownProvider& provider : knownProviders()) {
    if (!keyOf(provider, variables).empty()) return fmt::format("{}/{}", provider.name, provider.suggestedModel);
  }
  return std::string(kOfflineModel);
}

std::string whyDefaultModel(const Variables& variables) {
  if (!variables("BOUGH_MODEL").empty()) return "BOUGH_MODEL names it";
  for (const KnownProvider& provider : knownProviders()) {
    if (std::string name; !keyOf(provider, variables, &name).empty()) return name + " is set";
  }
  return "no provider has a key";
}

std::vector<UsableProvider> usableProviders(const std::vector<OwnProvider>& own, const Variables& variables) {
  const auto table = ModelTable::read(variables("BOUGH_MODELS"));
  std::vector<UsableProvider> out = {{.name = "offline", .models = {"echo"}}};
  for (const KnownProvider& provider : allProviders(own)) {
    UsableProvider usable{.name = std::string(provider.name)};
    if (!provider.suggestedModel.empty()) usable.models.emplace_back(provider.suggestedModel);
    for (const ModelFacts& row : table ? table->rows() : ModelTable::builtIn().rows()) {
      if (isModelNameOf(provider.name, row.name)) usable.models.push_back(row.name);
    }
    if (!provider.keyVariables.empty() && keyOf(provider, variables).empty()) {
      usable.needs = fmt::format("{}", fmt::join(provider.keyVariables, " or "));
    }
    out.push_back(std::move(usable));
  }
  std::ranges::stable_partition(out, [](const UsableProvider& each) { return each.needs.empty(); });
  return out;
}

Result<std::unique_ptr<Provider>> makeProvider(const std::string& name, const HttpProviderOptions& options,
                                               const Variables& variables) {
  if (name == kOfflineModel || name == "offline") return makeOfflineProvider();
  for (const OwnProvider& each : options.providers) {
    if (!each.keyVariable.empty()) Secrets::addVariable(each.keyVariable);
  }
  BOUGH_TRY(auto endpoint, findEndpoint(name, variables, options.providers));
  return makeHttpProvider(std::move(endpoint), Secrets::fromEnvironment(), options);
}

}  // namespace bough::agent
