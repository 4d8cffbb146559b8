#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/text/address.h"
#include "cli/app.h"

namespace {

// Occupies standard streams that the caller has closed. Otherwise a file that the command opens could get the number of
// a standard stream, and output would be written into that file. The placeholder refuses reads and writes, like a
// closed stream.
void occupyStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

// Copies the words of the command line, then hides the passwords of stores in the original, which other users can see
// in process lists.
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
