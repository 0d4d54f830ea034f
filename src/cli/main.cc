#include "cli/program.h"

int main(int count, char** arguments) {
  return tenure::cli::run_program(count, arguments);
}
