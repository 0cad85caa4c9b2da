// What commands say of a live source, all in the same words: --source, --scan, --set, and every setting of the source.
#pragma once

#include <string>
#include <vector>

#include "engine/acquire/source.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace echolux {

struct SourceOptions {
    std::string name, scan;
    std::vector<std::string> assignments;  // --set, and the source's own options, as "section.key=value"
};

// Returns --source, for a command that cannot do without.
CLI::Option* add_source_options(CLI::App& command, SourceOptions& options);

// --set source.… and the source's own options. Every other assignment but those of `besides` ("view.") is for what
// comes from the source. Throws Error{bad_setting}.
SourceWanted source_wanted(const SourceOptions& options, const std::vector<std::string>& besides);

// Assignments of these sections, in the order in which they were given.
std::vector<std::string> assignments_of(const SourceOptions& options, const std::vector<std::string>& sections);

}  // namespace echolux
