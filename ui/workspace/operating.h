// Forms of operations (app/operations/operation.h): the files, settings and options that users enter, and a job that
// runs the operation. One runs at a time. The displayed volume is the first input unless a file is named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/jobs.h"
#include "app/operations/operation.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "engine/scan/settings.h"

namespace echolux {

class Workspace;
struct WorkspaceState;

struct OperationOptions {
    bool opens_result = true;
    bool overwrites = false;
};

// Report on the last run, or on a value that was refused.
struct OperationReport {
    struct Row {
        std::string name, value, unit, help;
    };
    bool was_started = false, is_complete = false;
    std::vector<Row> rows{};
    std::vector<std::string> warnings{}, lines{};
    std::vector<std::filesystem::path> files{};
    std::optional<Error> error{};
    std::string key{};  // field that the error concerns, such as "filter.output"; empty: none
};

struct OperationForm {
    explicit OperationForm(const OperationInfo& of);
    OperationForm(const OperationForm&) = delete;
    OperationForm& operator=(const OperationForm&) = delete;

    // The first input is the displayed volume if it can be one and no file is named.
    bool uses_displayed_volume() const;
    std::string key_of(std::string_view name) const { return std::string(info.name) + "." + std::string(name); }
    std::string file(std::string_view name, std::size_t number = 0) const;  // empty: none
    std::size_t files_of(std::string_view name) const;

    const OperationInfo& info;
    std::unique_ptr<Operation> operation;                                // shows the settings; runs make another one
    Values values;                                                       // settings that were changed, by key
    std::map<std::string, std::vector<std::string>, std::less<>> files;  // by name of the input or output
    OperationOptions options;
    Settings own;  // binds the options
    OperationReport report;
};

class Operating {
  public:
    Operating(WorkspaceState& state, Workspace& work) : state_(state), work_(work) {}

    void choose(std::string_view name);  // throws Error{bad_setting} for an unknown operation
    bool is_chosen() const { return !chosen_.empty(); }
    OperationForm& form();  // of the chosen operation, or of the first one

    // Sets a setting by its key. References to fields of the form are invalid afterwards. A wrong value is refused. The
    // default value of a setting of a scan leaves it as in the scan's file.
    void set(OperationForm& form, const std::string& key, const Value& value);
    // Names a file of an input or output; an empty text removes it.
    void set_file(OperationForm& form, std::string_view name, std::size_t number, const std::string& file);
    // Shows the error beside the field that it concerns, or as a notice if there is none.
    void refuse(OperationForm& form, const Error& error);

    void run();     // the chosen form, unless a job is running
    void cancel();  // the running job
    std::optional<JobState> job() const;
    bool is_running(const OperationForm& form) const { return running_ == &form && job().has_value(); }

  private:
    void start(OperationForm& form);
    void check_names(const OperationForm& form, Operation& operation) const;
    void require_allowed(const BoundField& field, const Value& value) const;  // if the value names a file
    PendingVolume displayed_volume(std::string_view input) const;
    void finish(OperationForm& form, const Operation& operation, const OperationReport& report);

    WorkspaceState& state_;
    Workspace& work_;
    std::map<std::string_view, std::unique_ptr<OperationForm>> forms_;
    std::string_view chosen_;
    const OperationForm* running_ = nullptr;  // of the last job
    std::uint64_t job_ = 0;
};

}  // namespace echolux
