#include "cli/app.h"

int main(int argc, char** argv) {
  return bough::cli::run(argc, argv);
}
