// Operations (app/operations/operation.h) of the control interface: lists, runs and cancels them. Each runs in a job of
// the workspace, whose state has its progress.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/jobs.h"
#include "app/operations/operation.h"
#include "ui/control/known_settings.h"

namespace echolux {

// Makes the operation of a request `operation.run` and sets its arguments. All files that it reads or writes must be in
// `folders`, including files that a scan or picture names; relative names belong in the first one. `known` describes
// the settings of scans. Throws Error{bad_setting}.
std::shared_ptr<Operation> requested_operation(const nlohmann::json& params, const KnownSettings& known,
                                               const AllowedFolders& folders);

// Returns names joined with "+", such as the path of a movie, with absolute names of the files of key frames among
// them. Throws Error{bad_setting} if one is outside of the folders.
std::string allowed_parts(std::string_view joined, const AllowedFolders& folders);

class RunningOperations {
  public:
    // `jobs` must outlive this object. At most `max_running` operations run at a time: each uses all cores and its own
    // memory.
    RunningOperations(Jobs& jobs, std::int64_t max_running) : jobs_(jobs), max_running_(max_running) {}

    // Starts a job that runs the operation. `result` is then the object that `--json` prints. Throws Error{bad_setting}
    // if too many run.
    void start(const std::shared_ptr<Operation>& operation, const BackendChoice& backend, bool overwrites,
               const std::shared_ptr<nlohmann::ordered_json>& result);

    // Cancels the operation in this job, or all of them if `job` is 0. Returns their jobs. Throws Error{bad_setting} if
    // there is no such operation.
    std::vector<std::uint64_t> cancel(std::uint64_t job);

  private:
    std::set<std::uint64_t> running();

    Jobs& jobs_;
    std::int64_t max_running_;
    std::set<std::uint64_t> started_;
};

}  // namespace echolux
