#include "agent/tools/harmless_options.h"

#include <algorithm>

namespace bough::agent {
namespace {

struct Program {
  std::string_view names;
  std::string_view letters;  // Short options, which may be joined and followed by a number: -rn5.
  std::string_view words;    // All others.
};

// What is not here is asked about. Of programs whose arguments can be nearly everything (interpreters, downloads,
// builds), only the plainest options are.
constexpr Program kPrograms[] = {
    {"git", "abhlnpqrRstUvwz",
     "--oneline --stat --shortstat --numstat --dirstat --summary --name-only --name-status --graph --all --branches "
     "--tags "
     "--remotes --decorate --no-decorate --cached --staged --color --no-color --abbrev --abbrev-commit "
     "--no-abbrev-commit "
     "--since --until --after --before --author --committer --grep --invert-grep --all-match --follow --patch "
     "--no-patch "
     "--porcelain --short --branch --max-count --skip --list --show-current --merged --no-merged --contains --sort "
     "--word-diff --no-merges --merges --first-parent --reverse --topo-order --date-order --date --pretty --format "
     "--quiet --verbose --ignore-space-change --ignore-all-space --ignore-blank-lines --unified --function-context "
     "--find-renames --no-renames --diff-filter --check --exit-code --raw --left-right --cherry-pick --count "
     "--ignore-case --word-regexp --fixed-strings --extended-regexp --line-number --files-with-matches --heading "
     "--break "
     "--untracked-files --ignored --others --exclude-standard --modified --deleted --stage --is-inside-work-tree "
     "--show-toplevel --abbrev-ref --verify --no-ext-diff --no-textconv --no-pager --version --dry-run"},
    {"find gfind", "",
     "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size "
     "-empty "
     "-maxdepth -mindepth -depth -prune -not -a -and -o -or -newer -anewer -cnewer -newermt -mtime -mmin -atime -amin "
     "-ctime -cmin -daystart -perm -user -group -uid -gid -nouser -nogroup -readable -writable -executable -links "
     "-inum "
     "-samefile -fstype -xdev -mount -follow -L -H -P -print -print0 -printf -ls -quit -true -false -warn -nowarn"},
    {"sort gsort", "bcCdfghikmMnrRsStuVz",
     "--reverse --numeric-sort --unique --key --field-separator --human-numeric-sort --version-sort --ignore-case "
     "--ignore-leading-blanks --dictionary-order --general-numeric-sort --month-sort --stable --zero-terminated "
     "--check "
     "--merge --parallel --buffer-size"},
    {"curl", "fgILNqsSv",
     "--silent --show-error --fail --fail-with-body --location --head --verbose --compressed --max-time "
     "--connect-timeout "
     "--retry --retry-delay --ipv4 --ipv6 --http1.1 --http2 --globoff --max-redirs --version --help"},
    {"wget", "qv", "--quiet --no-verbose --verbose --spider --timeout --tries --version --help -nv"},
    {"tar gtar bsdtar", "cjJkptvxzZ",
     "--list --verbose --gzip --bzip2 --xz --zstd --create --extract --keep-old-files "
     "--preserve-permissions --version --help"},
    {"rsync", "achnprtuvz",
     "--archive --verbose --recursive --dry-run --compress --checksum --human-readable --progress --stats "
     "--itemize-changes "
     "--list-only --update --times --perms --version --help"},
    {"scp sftp ftp telnet nc ncat socat", "", ""},
    {"ctest", "EjLNRV",
     "-VV -LE -FA -FS -FC --output-on-failure --verbose --extra-verbose --show-only --parallel --tests-regex "
     "--exclude-regex --label-regex --label-exclude --rerun-failed --repeat --timeout --stop-on-failure --progress "
     "--quiet "
     "--print-labels --no-tests --version --help"},
    {"cmake", "jv", "--target --parallel --verbose --clean-first --version --help"},
    {"make gmake ninja", "dijklnqrsSvw",
     "--jobs --keep-going --dry-run --just-print --silent --quiet --question --trace --print-directory "
     "--no-print-directory "
     "--load-average --output-sync --version --help"},
    {"cargo", "jpqv",
     "--release --debug --all --workspace --exclude --package --lib --bin --bins --test --tests --example --examples "
     "--bench --benches --doc --all-targets --all-features --features --no-default-features --no-run --no-fail-fast "
     "--verbose --quiet --jobs --offline --locked --frozen --message-format --color --timings --version --help "
     "--nocapture"},
    {"npm pnpm yarn", "asw",
     "--silent --if-present --workspace --workspaces --recursive --json --all --depth --verbose --version --help"},
    {"pytest py.test", "hklmnqsvVx",
     "--verbose --quiet --exitfirst --maxfail --last-failed --failed-first --lf --ff --nf --sw --stepwise --tb "
     "--durations "
     "--collect-only --co --no-header --no-summary --color --disable-warnings --showlocals --capture --strict-markers "
     "--markers --fixtures --version --help -ra -rA -rf -rs -rx -rfE"},
    {"go", "",
     "-v -run -skip -count -short -race -timeout -bench -benchtime -benchmem -failfast -cover -covermode -json "
     "-parallel -cpu "
     "-list -shuffle -tags -m -f -deps -test -n"},
    {"docker podman", "aqnt",
     "--all --quiet --no-trunc --tail --follow --since --until --size --timestamps --version --help"},
    {"kubectl oc", "AcLlnow",
     "--namespace --all-namespaces --selector --output --watch --show-labels --sort-by --tail --since --container "
     "--help"},
    {"python python2 python3 perl ruby node nodejs deno bun php lua awk gawk mawk nawk", "V", "--version --help"},
    {"zip unzip 7z 7za", "lqtvr", "--version --help"},
    {"man less more vi vim nvim view emacs nano ed", "", "--version --help"},
};

bool holds(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

std::optional<bool> isHarmlessOption(std::string_view program, std::string_view option) {
  for (const Program& each : kPrograms) {
    if (!holds(each.names, program)) continue;
    if (holds(each.words, option.substr(0, option.find('=')))) return true;
    if (option.starts_with("--") || option.size() < 2) return false;
    return option.substr(1).find_first_not_of("0123456789") == std::string_view::npos ||
           (each.letters.contains(option[1]) && std::ranges::all_of(option.substr(1), [&](char c) {
              return each.letters.contains(c) || (c >= '0' && c <= '9') || c == ',' || c == '.';
            }));
  }
  return std::nullopt;
}

}  // namespace bough::agent
