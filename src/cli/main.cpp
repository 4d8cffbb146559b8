#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/text/address.h"
#include "cli/app.h"

namespace {

// A file that the command opens must not get the number of a standard stream that its caller has closed: what is
// printed would be written to that file. What takes its place refuses to be used, as the closed one does.
void occupyStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

// The words of the command line. Whoever lists processes reads it without the passwords of stores from here on.
std::vector<std::string> takeWords(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (int i = 1; i < argc; ++i) {
    if (words[static_cast<std::size_t>(i)].contains("://")) bough::text::hidePasswords(argv[i]);
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  occupyStandardStreams();
  std::vector<std::string> words = takeWords(argc, argv);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return bough::cli::run(argc, arguments.data());
}
