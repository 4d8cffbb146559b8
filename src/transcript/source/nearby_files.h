// Files next to a transcript, such as the lists that agents keep of their sessions. They are read whole, up to a limit,
// and never trusted: a name in them is checked before it is used as a path.
#pragma once

#include <bough/error.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bough::transcript {

/// Returns the folder that a path is in.
std::string folderOf(std::string_view path);
/// Returns the last component of a path.
std::string nameOf(std::string_view path);

/// Reads a whole regular file of at most 64 MiB. Returns std::nullopt when it does not exist; fails when it cannot be
/// read or is larger.
Result<std::optional<std::string>> readSmallFile(const std::string& path);

/// Does the same for a file in a folder. Fails when a link leads out of the folder.
Result<std::optional<std::string>> readSmallFileInFolder(const std::string& folder, const std::string& relative);

/// Returns whether a relative path stays inside its folder: it has no "..", no leading slash and no control characters.
bool staysInFolder(std::string_view relative);

/// Passes the members of a JSON object, or the elements of a JSON list (with an empty key), to `use`, until `use`
/// returns true.
void eachSession(std::string_view json, const std::function<bool(const std::string& key, std::string_view value)>& use);

/// Returns the text of a JSON object or list with one more member or element at its end; everything else stays the
/// same. An empty or missing list becomes a list with only that element. Damaged when `json`, the content of the file
/// `path`, is not such a value.
Result<std::string> withMember(const std::string& path, std::string_view json, std::string_view key,
                               std::string_view value);
Result<std::string> withElement(const std::string& path, std::string_view json, std::string_view value);

/// Creates a folder and its missing parents.
Result<void> makeFolder(const std::string& folder);

/// Writes a file in a folder, durably and with mode 0600. Creates missing folders and does not follow links. A file
/// that exists is left unchanged.
Result<void> writeNewInFolder(const std::string& folder, const std::string& relative, std::string_view bytes);

/// Replaces a whole list file, durably and with mode 0600.
Result<void> replaceList(const std::string& path, std::string_view bytes);

}  // namespace bough::transcript
