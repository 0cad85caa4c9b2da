#include "ui/cli/source_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "engine/acquire/source.h"
#include "engine/scan/settings.h"
#include "ui/cli/setting_options.h"

namespace echolux {
namespace {

bool is_of(const std::string& assignment, const std::vector<std::string>& sections) {
    return std::ranges::any_of(sections, [&](const std::string& section) { return assignment.starts_with(section); });
}

}  // namespace

CLI::Option* add_source_options(CLI::App& command, SourceOptions& options) {
    CLI::Option* name = command.add_option("--source", options.name, source_names)->type_name("SOURCE");
    command.add_option("--scan", options.scan, "describes what a camera or plugin sends: sizes, calibration, recipe")
        ->type_name("scan.toml");
    add_recipe_option(command, options.assignments);
    add_set_option(command, options.assignments);
    SourceSettings source;
    Settings settings;
    settings.bind("source", source);
    add_setting_options(command, settings, "source", "Source (each also as --set source.KEY=VALUE)",
                        options.assignments);
    return name;
}

SourceWanted source_wanted(const SourceOptions& options, const std::vector<std::string>& besides) {
    SourceWanted wanted;
    wanted.name = options.name;
    wanted.scan = options.scan;
    Settings settings;
    settings.bind("source", wanted.settings);
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("source."))
            settings.set_assignment(assignment);
        else if (!is_of(assignment, besides))
            wanted.assignments.push_back(assignment);
    }
    return wanted;
}

std::vector<std::string> assignments_of(const SourceOptions& options, const std::vector<std::string>& sections) {
    std::vector<std::string> found;
    for (const std::string& assignment : options.assignments) {
        if (is_of(assignment, sections)) found.push_back(assignment);
    }
    return found;
}

}  // namespace echolux
