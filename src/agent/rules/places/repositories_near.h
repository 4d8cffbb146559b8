// The repositories in a tree of folders.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/rules/places/leading_paths.h"

namespace bough::agent {

/// The program whose own folder a word names (`.git`, `sub/.hg/hgrc`), and which runs or obeys what is in it. Empty
/// when it names none.
std::string_view obeyedBy(std::string_view word);

/// The program whose own folder, in this one, leads to a path; empty when none does.
std::string_view ownFolderLeading(const LeadsTo& to, const std::string& folder);

/// Calls `visit` with each of these folders, and each folder below them, that seems to hold a repository or to be one,
/// until it is true: then it is true itself. The nearest to the first folders come first, and there is an end after a
/// few ten thousand folders. Links to folders are followed, and folders of other
/// disks are looked into; what is below these is not.
bool anyRepositoryBelow(const std::vector<std::string>& folders, const std::function<bool(const std::string&)>& visit);

}  // namespace bough::agent
