#include "agent/rules/program_kinds.h"

#include <algorithm>

#include "agent/rules/harmless_options.h"
#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

constexpr std::string_view kShells =
    "bash rbash sh dash ash ksh mksh lksh oksh pdksh rksh loksh posh yash zsh rzsh fish csh tcsh rc es sash osh ysh "
    "ion "
    "elvish nu xonsh murex pwsh powershell busybox toybox git-shell nologin";

constexpr std::string_view kRunners =
    "env nice ionice chrt taskset time timeout nohup setsid stdbuf unbuffer xargs watch entr parallel sem sudo "
    "sudoedit "
    "doas su sg newgrp runuser run0 pkexec gosu su-exec setuidgid chpst softlimit setpriv capsh ssh rsh rexec rlogin "
    "mosh autossh sshpass dbclient exec eval command builtin . source trap coproc ! chroot fakechroot fakeroot unshare "
    "nsenter proot bwrap firejail systemd-run systemd-nspawn systemd-inhibit machinectl strace ltrace gdb lldb "
    "valgrind "
    "perf rr uftrace heaptrack hyperfine flock script expect socat at batch crontab start-stop-daemon daemonize "
    "run-parts run-one setarch linux linux32 linux64 i386 x86_64 prlimit numactl cpulimit cgexec chronic ifne pee "
    "mispipe ts faketime eatmydata dbus-run-session dbus-launch ssh-agent xinit startx xterm xvfb-run tmux screen "
    "dtach "
    "abduco rlwrap ccache sccache distcc torsocks torify proxychains tini dumb-init catchsegv envdir npx bunx pnpx uvx "
    "pipx ansible sqlite sqlite3 duckdb wine wsl toolbox distrobox ldd xdg-open open gio kde-open wslview cygstart";

// The options with which an unpacker only lists: short ones, and long ones.
struct Unpacker {
  std::string_view names;
  std::string_view letters;
  std::string_view words;
};

constexpr Unpacker kUnpackers[] = {
    {"unzip", "ltvZ", ""}, {"dtrx", "lt", "--list --table"}, {"unar", "", ""}, {"patch gpatch", "", "--dry-run"}};

bool isInList(std::string_view list, std::string_view program) {
  return holdsWord(list, program) || holdsWord(list, familyOf(program));
}

const Unpacker* unpackerCalled(std::string_view program) {
  const auto* found =
      std::ranges::find_if(kUnpackers, [&](const Unpacker& each) { return isInList(each.names, program); });
  return found == std::end(kUnpackers) ? nullptr : found;
}

// The system's loader runs the file that it is given, and so does an emulator.
bool isLoader(std::string_view program) {
  return program.starts_with("ld-") || program.starts_with("ld.so") || program.starts_with("qemu-");
}

}  // namespace

bool runsItsArguments(std::string_view program) {
  // GNU programs have names that begin with `g` on other systems.
  const std::string_view plain = program.starts_with('g') ? program.substr(1) : program;
  return isLoader(program) || isInList(kShells, program) || isInList(kRunners, program) || holdsWord(kShells, plain) ||
         holdsWord(kRunners, plain);
}

bool writesSecondFile(std::string_view program) {
  constexpr std::string_view kWriters =
      "uniq guniq xxd json json.tool uu pdftotext pdftohtml ps2ascii indent gindent lz4 unlz4";
  return isInList(kWriters, program) || familyOf(program).ends_with("cpp");
}

bool unpacksFiles(std::string_view program) {
  return unpackerCalled(program) != nullptr;
}

bool onlyLists(std::string_view program, std::string_view option) {
  const Unpacker* unpacker = unpackerCalled(program);
  if (unpacker == nullptr || !option.starts_with('-')) return false;
  if (option.starts_with("--")) return holdsWord(unpacker->words, option);
  // After any other letter, the rest may be that letter's value.
  const std::size_t first = option.find_first_not_of("-q");
  return first != std::string_view::npos && unpacker->letters.contains(option[first]);
}

bool onlyReads(std::string_view program) {
  return onlyPrints(program) || isInList("rg fd fdfind find gfind tree file jq sed gsed sort gsort", program);
}

}  // namespace bough::agent
