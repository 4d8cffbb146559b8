#include "agent/rules/harmless_options.h"

#include <algorithm>

#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

struct Program {
  std::string_view names;
  std::string_view letters;  // Short options, which may be joined and followed by a number: -rn5.
  std::string_view words;    // All other options.
};

// Programs that only print, whatever their options.
constexpr std::string_view kOnlyPrint =
    "cat head tail wc cut tr nl tac rev comm join paste fold expand unexpand ls dir vdir du df stat basename dirname "
    "realpath readlink pwd echo printf uname id whoami groups which ps free uptime lscpu nproc diff cmp md5sum sha1sum "
    "sha224sum sha256sum sha384sum sha512sum b2sum cksum seq true false sleep od grep egrep fgrep ggrep expr factor";

// For programs in no table: options that mean the same for nearly all programs.
constexpr Program kAny = {
    "", "ahnqvV",
    "--help --version --verbose --quiet --silent --debug --color --no-color --json --all --list --long --short "
    "--dry-run --check --stat --stats --count --limit --sort --reverse --no-pager --watch --progress --no-progress"};

// Any option that is not listed needs a question. For programs whose arguments can do nearly everything (interpreters,
// downloads, builds), only the plainest options are listed.
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
    {"rg", "aABcCeEfFgHiIjlLmMnNopPqrsStTuUvVwx.0",
     "--files --glob --iglob --type --type-not --type-list --hidden --no-ignore --count --count-matches --context "
     "--after-context --before-context --line-number --no-line-number --files-with-matches --files-without-match "
     "--fixed-strings --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp --multiline "
     "--only-matching --json --max-count --max-depth --max-filesize --sort --sortr --stats --color --heading "
     "--no-heading --column --vimgrep --invert-match --follow --text --unrestricted --pcre2 --replace --regexp --null "
     "--quiet --trim --threads --with-filename --no-filename --passthru --version --help"},
    {"fd fdfind", "0acdeEgHIijlLpqsStuV",
     "--type --extension --hidden --no-ignore --exclude --max-depth --min-depth --glob --fixed-strings --regex "
     "--full-path --absolute-path --follow --case-sensitive --ignore-case --size --changed-within --changed-before "
     "--list-details --print0 --color --max-results --threads --quiet --version --help"},
    {"sed gsed", "Enrsuz",  // without those that take a word before the script
     "--quiet --silent --regexp-extended --null-data --separate --unbuffered --posix --sandbox --debug "
     "--version --help"},
    {"uniq guniq", "cdDfisuwz", "--count --repeated --all-repeated --ignore-case --unique --version --help"},
    {"xxd", "abcdeEgilopqrRsuC", "-version"},
    {"json.tool json", "h", "--sort-keys --json-lines --compact --no-ensure-ascii --tab --no-indent --help"},
    {"date", "dIRru", "--utc --iso-8601 --rfc-3339 --rfc-email --date --reference --version --help"},
    {"tree", "aACdDfFghiIJlLnNpPqQrsStuUvxX",
     "--dirsfirst --du --gitignore --noreport --prune --matchdirs --ignore-case --filelimit --charset --sort --version "
     "--help"},
    {"file", "bhikLNprsv", "--brief --mime --mime-type --mime-encoding --dereference --version --help"},
    {"jq", "acCejMnrRsS",
     "--arg --argjson --compact-output --raw-output --raw-input --slurp --null-input --sort-keys --exit-status "
     "--color-output --monochrome-output --tab --indent --stream --version --help"},
    {"eslint jest vitest mocha tsc prettier stylelint", "htv",
     "--quiet --max-warnings --ext --ci --runInBand --verbose --silent --testNamePattern --testPathPattern --bail "
     "--watch --watchAll --maxWorkers --listTests --onlyChanged --noEmit --check --list-different --color --no-color "
     "--run --version --help"},
    {"ruff flake8 pylint mypy black isort", "qv",
     "--check --diff --quiet --verbose --select --ignore --exclude --statistics --strict --ignore-missing-imports "
     "--color --no-color --version --help"},
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
     "--silent --if-present --workspace --workspaces --recursive --json --all --depth --verbose --watch --version "
     "--help"},
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
    {"python perl ruby node nodejs deno bun php lua awk gawk mawk nawk", "V", "--version --help"},
    {"zip unzip 7z 7za", "lqtvr", "--version --help"},
    {"cp mv ln install touch mkdir rm rmdir tee dd split csplit truncate chmod chown", "nv",
     "--verbose --version --help"},
    {"man less more vi vim nvim view emacs nano ed", "", "--version --help"},
};

const Program& programCalled(std::string_view name) {
  for (const std::string_view called : {name, familyOf(name)}) {
    const auto* found =
        std::ranges::find_if(kPrograms, [&](const Program& each) { return holdsWord(each.names, called); });
    if (found != std::end(kPrograms)) return *found;
  }
  return kAny;
}

}  // namespace

bool optionNamesProgram(std::string_view program, std::span<const std::string> words, std::string_view option) {
  // `git rebase -s a/../x` runs ./git-merge-a/../x.
  constexpr std::string_view kWithStrategies = "merge pull rebase";
  const bool hasLetter = option.size() > 1 && option[0] == '-' && option[1] != '-' && option.contains('s');
  return program == "git" && hasLetter &&
         std::ranges::any_of(words, [&](const std::string& word) { return holdsWord(kWithStrategies, word); });
}

bool onlyPrints(std::string_view program) {
  return holdsWord(kOnlyPrint, program);
}

bool isHarmlessOption(std::string_view program, std::string_view option) {
  if (onlyPrints(program)) return true;
  const Program& rules = programCalled(program);
  if (holdsWord(rules.words, option.substr(0, option.find('=')))) return true;
  if (program == "date" && option.starts_with('+')) return true;  // the format of the output
  if (option.starts_with("--") || option.size() < 2) return false;
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::all_of(option.substr(1), isDigit) ||
         (rules.letters.contains(option[1]) && std::ranges::all_of(option.substr(1), [&](char c) {
            return rules.letters.contains(c) || isDigit(c) || c == ',' || c == '.';
          }));
}

}  // namespace bough::agent
