// Builds command-line options from described fields: `view.azimuth_deg` becomes `--azimuth`, with the help, unit,
// choices and default of its description. Also contains options that several commands share and parsers for short
// texts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace echolux {

// Returns the option for a field without its unit: "azimuth_deg" in deg becomes "--azimuth", "a_scans" becomes
// "--a-scans".
std::string option_name(const FieldText& field);

// Adds every field of `settings` in `section`, except those in `without`, as an option in the help group `group`.
// Values are appended to `assignments` as "section.name=value" and checked later with all other settings. The last
// assignment wins, whether it came from such an option or from add_set_option(). `assignments` must outlive `command`.
void add_setting_options(CLI::App& command, const Settings& settings, std::string_view section,
                         const std::string& group, std::vector<std::string>& assignments,
                         const std::vector<std::string_view>& without = {});

// Adds `--set section.key=value`, which may be repeated. `check` throws Error for an unknown key or an invalid value;
// empty: the keys are those of all settings.
CLI::Option* add_set_option(CLI::App& command, std::vector<std::string>& assignments,
                            std::function<void(const std::string&)> check = {});

// Adds `--recipe NAME`, which inserts the settings of a recipe before all others.
void add_recipe_option(CLI::App& command, std::vector<std::string>& assignments);

// Adds `--backend auto|cpu|cuda`. `work` completes the help text "device that ...".
CLI::Option* add_backend_option(CLI::App& command, Backend& backend, const std::string& work = "reconstructs");

// Returns command lines as the end of a help page.
std::string examples_text(const std::vector<std::string>& lines);

// Adds `--overwrite` (see engine/io/output_rule.h).
void add_overwrite_option(CLI::App& command, bool& overwrites);

// Adds `--data-folder FOLDER`, which may be repeated (see engine/io/file_name.h).
void add_data_folder_option(CLI::App& command);

// Validators for finite numbers that are > 0, >= 0 or within a range. Error: "expected a positive number, got -3". They
// add no text to the help.
CLI::Validator positive();
CLI::Validator not_negative();
CLI::Validator between(double low, double high);

// Validator for a list of names. Error: "expected one of auto, cpu, cuda, got cdua, did you mean cuda?".
CLI::Validator one_of(std::vector<std::string> names);

// Adds `--gpus N` (a count; 0: all) or `--gpus 0,1` (numbers of GPUs).
CLI::Option* add_gpus_option(CLI::App& command, BackendChoice& choice);
CLI::Option* add_gpus_option(CLI::App& command, const std::function<void(const BackendChoice&)>& choose,
                             const std::string& help);

// ---- texts ----------------------------------------------------------------------------------------------------------
// Parsers for short texts on the command line, such as "3:17" and "640x480".

// Error in the command line itself. Printed like other errors, but with its own exit code (2).
class UsageError : public Error {
  public:
    UsageError(const std::string& what, const std::string& where, const std::string& remedy)
        : Error(ErrorCode::bad_setting, what, where, remedy) {}
};

// Parses a whole number. `expected` completes the remedy: "a number or all". Throws UsageError.
std::int64_t parsed_number(const std::string& text, const char* option, const char* expected);

// Parses "640x480" into width and height. Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_size(const std::string& text, const char* option);

// Returns the backend for "auto", "cpu" or "cuda". The name must have been checked.
Backend parsed_backend(const std::string& name);

}  // namespace echolux
