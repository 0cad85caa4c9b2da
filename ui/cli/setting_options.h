// Command-line options made from described fields: `view.azimuth_deg` becomes `--azimuth`, with the description's help,
// unit, choices and default. And options that several commands have, in the same words.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/backend.h"
#include "engine/scan/settings.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace echolux {

// "azimuth_deg" in deg -> "--azimuth"; "a_scans" -> "--a-scans".
std::string option_name(const FieldText& field);

// Every field of `settings` in `section`, but those in `without`, as an option in the help group `group`. What the user
// gives is appended to `assignments` as "section.name=value", so that it is checked in the one place where settings
// are. With the assignments of add_set_option() the last word counts, whichever way it was given.
void add_setting_options(CLI::App& command, const Settings& settings, std::string_view section,
                         const std::string& group, std::vector<std::string>& assignments,
                         const std::vector<std::string_view>& without = {});

// `--set section.key=value`, repeatable.
CLI::Option* add_set_option(CLI::App& command, std::vector<std::string>& assignments);

// `--recipe NAME`: a recipe's settings, before all others.
void add_recipe_option(CLI::App& command, std::vector<std::string>& assignments);

// `--backend auto|cpu|cuda`: the device that does the work.
CLI::Option* add_backend_option(CLI::App& command, Backend& backend, const std::string& work = "reconstructs");

// `--overwrite`, the user's word of engine/io/output_rule.h.
void add_overwrite_option(CLI::App& command, bool& overwrites);

// `--data-folder FOLDER`, repeatable, of engine/io/named_file.h.
void add_data_folder_option(CLI::App& command);

// Of numbers that are finite and > 0, >= 0, or in a range: "expected a positive number, got -3". They add nothing to
// the help.
CLI::Validator positive();
CLI::Validator not_negative();
CLI::Validator between(double low, double high);

// Of one of some names: "expected one of auto, cpu, cuda, got cdua, did you mean cuda?".
CLI::Validator one_of(std::vector<std::string> names);

// `--gpus N` or `--gpus 0,1`.
CLI::Option* add_gpus_option(CLI::App& command, BackendChoice& choice);
CLI::Option* add_gpus_option(CLI::App& command, const std::function<void(const BackendChoice&)>& choose,
                             const std::string& help);

}  // namespace echolux
