// How help texts are laid out.
#pragma once

namespace CLI {
class App;
}

namespace echolux {

// To be called before options and commands are added.
void set_help_format(CLI::App& program);

}  // namespace echolux
