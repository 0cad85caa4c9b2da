// `./dev demo` before the whole program is built: the same command, linked with what it runs alone.
#include "ui/cli/program.h"

int main(int argc, char** argv) {
    return echolux::run_program(argc, argv, {{echolux::add_demo}});
}
