// Finds the repositories in a tree of folders.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/rules/places/watched_paths.h"

namespace bough::agent {

/// Returns the program whose own folder a word names (`.git`, `sub/.hg/hgrc`), and which runs or obeys the files in it.
/// Empty when the word names no such folder.
std::string_view programOfFolderIn(std::string_view word);

/// Returns the program whose own folder, inside this folder, leads to one of the paths; empty when there is none.
std::string_view programWhoseFolderReaches(const WatchedPaths& watched, const std::string& folder);

/// Calls `visit` with each folder, in or below these folders, that seems to hold a repository or to be one, until
/// `visit` returns true. Returns true if it did. Folders near the first ones are visited first; the search stops after
/// about twenty thousand folders. Links to folders and folders on other disks are visited, but not the folders below
/// them.
bool anyRepositoryBelow(const std::vector<std::string>& folders, const std::function<bool(const std::string&)>& visit);

}  // namespace bough::agent
