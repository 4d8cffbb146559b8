// The file in which a chat keeps what was typed, between runs of the editor.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

/// Its name in the folder of a store.
inline constexpr std::string_view kTypedHistory = "chat_history";

/// libedit asks the C library how wide characters are, and writes them so; without a UTF-8 locale it would not know.
void useUtf8();

/// Removes lines from the file, which is replaced as a whole. Returns how many; none when there is no such file. An
/// editor that is open elsewhere keeps them, and writes them again.
Result<std::size_t> forgetTypedLines(const std::string& path, const std::function<bool(std::string_view)>& isGone);

}  // namespace bough::cli
