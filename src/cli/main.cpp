#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace

int main(int argc, char** argv) {
  occupyStandardStreams();
  return bough::cli::run(argc, argv);
}
