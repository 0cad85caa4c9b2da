// Limits for remote requests: only files in the allowed folders, including all files that these name, and only sources
// that open nothing else. The user who starts the program has no limits.
#include <algorithm>

#include "app/open/files_read.h"
#include "compute/error.h"
#include "engine/acquire/source_kinds.h"
#include "engine/io/allowed_folders.h"
#include "engine/net/tcp.h"
#include "engine/scan/file_settings.h"
#include "ui/workspace/workspace_parts.h"

namespace echolux {

const AllowedFolders* Workspace::Parts::folders() const {
    const std::shared_ptr<Operation>& operation = jobs.operation();
    return operation && operation->folders ? operation->folders.get() : options.folders.get();
}

void Workspace::Parts::require_allowed(const std::filesystem::path& path) const {
    if (folders() == nullptr) return;
    std::error_code problem;
    if (!is_allowed(path)) folders()->within(std::filesystem::absolute(path, problem));
}

bool Workspace::Parts::is_allowed(const std::filesystem::path& path) const {
    if (folders() == nullptr) return true;
    std::error_code problem;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, problem);
    return std::ranges::count(allowed_files, whole) > 0 || folders()->hold(std::filesystem::absolute(path, problem));
}

// A scan in an allowed folder may name spectra and calibration files elsewhere, so every file that would be read is
// checked.
void Workspace::Parts::require_all_read(const std::filesystem::path& file, const std::string& assignments) const {
    if (!file.empty()) require_allowed(file);  // check it before reading the names in it
    for (const std::filesystem::path& read : files_read(file, lines_of(assignments))) {
        try {
            require_allowed(read);
        } catch (const Error& error) {
            throw Error(error.code(), read.string() + " " + error.problem(), file.string(), error.remedy());
        }
    }
}

void Workspace::Parts::require_allowed(const WhatIsOpen& what) const {
    if (folders() == nullptr) return;
    for (const std::string& name : {what.file, what.scan}) require_all_read(name, what.assignments);
    if (!what.source.empty() && what.source != allowed_source) require_allowed_source(what);
}

// Plugins are libraries that the program loads, and a network port accepts data from anyone who finds it: both must be
// requested on the command line. Shared memory belongs to the same user, and its content is not trusted.
void Workspace::Parts::require_allowed_source(const WhatIsOpen& what) const {
    const SourceName source(what.source);
    const std::string remedy = "start it at the machine: echolux view --source " + what.source;
    if (source.kind == "plugin")
        throw Error(ErrorCode::bad_setting, "plugins cannot be opened remotely", what.source, remedy);
    if (source.kind == "tcp") {
        const std::string address = source.rest.starts_with("//") ? source.rest.substr(2) : source.rest;
        if (parsed_address(address, what.source).is_this_machine_alone()) return;
        throw Error(ErrorCode::bad_setting, "ports for other machines cannot be opened remotely", what.source,
                    "listen on this machine alone, tcp://:5210, or " + remedy);
    }
    if (source.kind == "genicam" || source.kind == "shm") return;
    const bool is_file = source.kind == "replay" || source.rest.find_first_of("./") != std::string::npos;
    if (is_file) require_all_read(source.rest, what.assignments);
}

// Words such as "surface" are not file names. Files named by a scan are relative to its folder.
void Workspace::Parts::require_allowed_files(const Values& wanted) const {
    if (folders() == nullptr) return;
    for (const auto& [key, value] : wanted) {
        const BoundField* field = book.field(key);
        const auto* name = std::get_if<std::string>(&value);
        if (field == nullptr || name == nullptr) continue;
        const bool is_of_view =
            field->section == "view" || field->section == "window" || is_tissue_section(field->section);
        const std::filesystem::path folder =
            is_of_view || book.scan() == nullptr ? "" : book.scan()->path.parent_path();
        if (is_file_name(*field, *name, folder) && field->get() != value) require_allowed(folder / *name);
    }
}

}  // namespace echolux
