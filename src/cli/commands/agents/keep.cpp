#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "base/system/file_system.h"
#include "base/text/address.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/transcript.h"
#include "cli/commands/commands.h"
#include "cli/names/foreign.h"
#include "cli/terminal/output.h"
#include "cli/views/entry_view.h"

namespace bough::cli::keep_command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "bough-keep.service";
constexpr std::string_view kMark = "# Written by `bough keep --install`; `bough keep --uninstall` removes it.\n";

struct Options {
  bool install = false;
  bool uninstall = false;
};

// Returns the folder where systemd looks for a user's services.
Result<std::string> serviceFolder() {
  if (const auto config = userFolder(UserFolder::Config); !config.empty()) return config + "/systemd/user";
  return fail(ErrorCode::InvalidArgument, "there is no folder for user services",
              "set HOME, or XDG_CONFIG_HOME, to an absolute path");
}

// Returns a word for a unit file. Fails for line breaks and other control characters, which have no safe form there.
// systemd expands `$` only in arguments of a command.
Result<std::string> unitWord(const std::string& text, bool isArgument = false) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return fail(ErrorCode::InvalidArgument, fmt::format("{} cannot be written into a service", json::quoted(text)),
                  "use a path without control characters");
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '%' || (c == '$' && isArgument)) out += c;
  }
  return out + "\"";
}

// Returns the variables that say where agents keep their sessions, if they are set here: a service inherits none of
// them.
std::map<std::string, std::string> agentVariables() {
  std::map<std::string, std::string> found;
  TranscriptHome home = transcriptHome();
  const auto real = home.variable;
  home.variable = [&](const std::string& name) {
    std::string value = real(name);
    if (!value.empty()) found[name] = value;
    return value;
  };
  (void)transcriptFolders(home, {});
  return found;
}

Result<std::string> serviceText(const Context& context) {
  std::error_code error;
  const std::string program = fs::read_symlink("/proc/self/exe", error).string();
  if (error) return fail(ErrorCode::Io, "cannot find out where the program bough is", "mount /proc");
  std::string store = context.resolvedLocation();
  if (!text::passwordsIn(store).empty()) {
    return fail(ErrorCode::InvalidArgument, "the service would show the password of the store's URL",
                "put the password into ~/.pgpass, and leave it out of the URL");
  }
  if (store.find("://") == std::string::npos) store = fs::absolute(store, error).string();
  BOUGH_TRY(const std::string programWord, unitWord(program));
  BOUGH_TRY(const std::string storeWord, unitWord(store, /*isArgument=*/true));
  std::string text(kMark);
  text += "[Unit]\nDescription=Keep the sessions of AI agents in bough\n\n[Service]\n";
  for (const auto& [name, value] : agentVariables()) {
    BOUGH_TRY(const std::string word, unitWord(name + "=" + value));
    text += fmt::format("Environment={}\n", word);
  }
  text += fmt::format("ExecStart={} --store {} import --watch\n", programWord, storeWord);
  text += "Restart=on-failure\nRestartSec=60\nNice=10\n\n[Install]\nWantedBy=default.target\n";
  return text;
}

// Returns std::nullopt when the file does not exist.
Result<std::optional<std::string>> readService(const std::string& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return std::optional<std::string>();
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || !text.view().starts_with(kMark)) {
    return fail(ErrorCode::AlreadyExists, fmt::format("{} was not written by bough", path),
                "nothing was changed; move the file away first");
  }
  return text.str();
}

void print(const Context& context, std::string_view state, const std::string& path, std::string_view command) {
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("state", state).member("file", path);
    return printJsonLine(writer.memberOrNull("command", command).endObject().text());
  }
  printMessage(fmt::format("{}: {}", state, path));
  if (!command.empty()) printLine(command);
}

Result<ExitCode> install(const Context& context, const std::string& folder) {
  const std::string path = folder + "/" + std::string(kName);
  BOUGH_TRY(const std::string text, serviceText(context));
  BOUGH_TRY(const auto present, readService(path));
  const std::string command = fmt::format("systemctl --user daemon-reload && systemctl --user enable --now {}", kName);
  if (present == text) {
    print(context, "installed already", path, command);
    return kDone;
  }
  BOUGH_TRY(const auto opened, orError(posixFileSystem().openRoot(folder, true), "open", folder));
  BOUGH_TRY(writeDurably(*opened, kName, text));
  print(context, present ? "written again" : "installed", path, command);
  return kDone;
}

// Also removes the link that `systemctl enable` makes, which would dangle.
Result<ExitCode> uninstall(const Context& context, const std::string& folder) {
  const std::string path = folder + "/" + std::string(kName);
  BOUGH_TRY(const auto present, readService(path));
  if (!present) {
    print(context, "not installed", path, "");
    return kDone;
  }
  std::error_code error;
  const fs::path link = fs::path(folder) / "default.target.wants" / kName;
  if (fs::is_symlink(link, error)) fs::remove(link, error);
  BOUGH_TRY(const auto opened, orError(posixFileSystem().openRoot(folder, false), "open", folder));
  BOUGH_TRY(orError(opened->remove(std::string(kName)), "remove", path));
  print(context, "removed", path, fmt::format("systemctl --user stop {} ; systemctl --user daemon-reload", kName));
  return kDone;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(const std::string folder, serviceFolder());
  if (options.install && options.uninstall) {
    return fail(ErrorCode::InvalidArgument, "--install and --uninstall cannot be given together", "pass one of them");
  }
  if (options.install) return install(context, folder);
  if (options.uninstall) return uninstall(context, folder);
  const std::string path = folder + "/" + std::string(kName);
  BOUGH_TRY(const auto present, readService(path));
  print(context, present ? "installed" : "not installed", path, present ? "" : "bough keep --install");
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "keep",
      .summary = "Keep the sessions of other agents with a service",
      .details =
          "Some agents delete sessions after a while. --install writes a systemd user service that runs `bough import "
          "--watch`, so that every session of every agent is also in the store, and prints the command that starts the "
          "service. Without options, says whether the service is installed.",
      .examples = "  bough keep --install\n  bough keep --uninstall",
      .options = {{.name = "--install", .help = "Write the service", .target = &options->install},
                  {.name = "--uninstall", .help = "Remove the service", .target = &options->uninstall}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::keep_command
