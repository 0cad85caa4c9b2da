// Options for live sources, shared by several commands: --source, --scan, --set and every setting of a source.
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
    std::vector<std::string> assignments;  // assignments from --set and the source's options, as "section.key=value"
};

// Adds the options. Returns --source, so that a command can require it.
CLI::Option* add_source_options(CLI::App& command, SourceOptions& options);

// Builds the description of a source. `source.*` assignments configure the source, those of the sections in `besides`
// ("view.") are ignored, and all others configure its scan. Throws Error{bad_setting}.
SourceWanted source_wanted(const SourceOptions& options, const std::vector<std::string>& besides);

// Returns the assignments of these sections in their original order.
std::vector<std::string> assignments_of(const SourceOptions& options, const std::vector<std::string>& sections);

}  // namespace echolux
