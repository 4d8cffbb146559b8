// Files beside a transcript: the lists that agents keep of their sessions. They are read whole, up to a limit, and
// never trusted: what they name is checked before it is used as a path.
#pragma once

#include <bough/error.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bough::transcript {

/// The folder a path is in.
std::string folderOf(std::string_view path);
/// The last component of a path.
std::string nameOf(std::string_view path);

/// A whole regular file of at most 64 MiB; none when there is none. Fails when it cannot be read, or is larger.
Result<std::optional<std::string>> readSmallFile(const std::string& path);

/// The same for a file below a folder. Refused when a link leads out of the folder.
Result<std::optional<std::string>> readSmallFileBelow(const std::string& folder, const std::string& relative);

/// Whether a relative path stays below the folder it is taken from: no "..", no leading slash, no control characters.
bool staysBelow(std::string_view relative);

/// Gives the members of a JSON object, or the elements of a JSON list (with an empty key), to `use`, until it returns
/// true.
void eachSession(std::string_view json, const std::function<bool(const std::string& key, std::string_view value)>& use);

/// The text of a JSON object or list with one more member or element at its end; everything else stays as it is. An
/// empty or missing list becomes one with that alone. Damaged when `json`, which is in the file `path`, is not such a
/// value.
Result<std::string> withMember(const std::string& path, std::string_view json, std::string_view key,
                               std::string_view value);
Result<std::string> withElement(const std::string& path, std::string_view json, std::string_view value);

/// Makes a folder and those it is in, where they are missing.
Result<void> makeFolder(const std::string& folder);

/// Writes a file below a folder, durably, with mode 0600; the folders on the way are made, and links are not followed.
/// One that is there is left as it is.
Result<void> writeNewBelow(const std::string& folder, const std::string& relative, std::string_view bytes);

/// Replaces a list file whole, durably, with mode 0600.
Result<void> replaceList(const std::string& path, std::string_view bytes);

}  // namespace bough::transcript
