// `echolux batch ...` is the command of the Python module (python/echolux/cluster), which replaces this process.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "compute/error.h"
#include "engine/scan/scan.h"
#include "ui/cli/options.h"
#include "ui/cli/program.h"

namespace echolux {

namespace {

// Replaces `--recipe NAME` by the settings of that recipe, because the module does not know recipes. They precede all
// other options, which override them.
std::vector<std::string> without_recipe(const std::vector<std::string>& arguments) {
    constexpr std::string_view option = "--recipe";
    std::vector<std::string> settings, others;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& one = arguments[i];
        const bool is_apart = one == option && i + 1 < arguments.size();
        if (!is_apart && !one.starts_with(fmt::format("{}=", option))) {
            others.push_back(one);
            continue;
        }
        const std::string name = is_apart ? arguments[++i] : one.substr(option.size() + 1);
        for (const std::string& setting : assignments_of_recipe(name)) settings.push_back("--set=" + setting);
    }
    const auto first = std::ranges::find_if(others, [](const std::string& one) { return one.starts_with('-'); });
    others.insert(first, settings.begin(), settings.end());
    return others;
}

}  // namespace

void hand_over_batch(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments[0] != "batch") return;
    std::vector<std::string> words{"echolux-batch"};
    if (const char* python = std::getenv("ECHOLUX_PYTHON")) words = {python, "-m", "echolux.cluster"};
    const std::vector<std::string> rest = without_recipe({arguments.begin() + 1, arguments.end()});
    words.insert(words.end(), rest.begin(), rest.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers.front(), pointers.data());
    throw Error(ErrorCode::bad_setting, fmt::format("cannot be started: {}", std::strerror(errno)), words.front(),
                "pip install 'echolux[cluster]', or name the Python that has it: ECHOLUX_PYTHON=venv/bin/python3");
}

void add_batch(CLI::App& program) {
    program.add_subcommand(
        "batch",
        "Reconstruct many scans, or convert, draw or measure many volumes, on this machine, with Dask "
        "or with Slurm; repeat the command to continue a stopped job");
}

}  // namespace echolux
