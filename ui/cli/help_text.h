// Layout of help texts.
#pragma once

namespace CLI {
class App;
}

namespace echolux {

// Sets the layout and --help. Call it before options and commands are added, which inherit it.
void set_help_format(CLI::App& program);

}  // namespace echolux
