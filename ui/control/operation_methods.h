// Operations (app/operations/operation.h) of the control interface: lists, runs and cancels them. Each runs in a job of
// the workspace, whose state has its progress.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
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

class RunningOperations {
  public:
    // `jobs` must outlive this object.
    explicit RunningOperations(Jobs& jobs) : jobs_(jobs) {}

    // Starts a job that runs the operation. `result` is then the object that `--json` prints.
    void start(const std::shared_ptr<Operation>& operation, const BackendChoice& backend, bool overwrites,
               const std::shared_ptr<nlohmann::ordered_json>& result);

    // Cancels the operation in this job, or all of them if `job` is 0. Returns their jobs. Throws Error{bad_setting} if
    // there is no such operation.
    std::vector<std::uint64_t> cancel(std::uint64_t job);

  private:
    Jobs& jobs_;
    std::set<std::uint64_t> started_;
};

}  // namespace echolux
