// Runs an operation for a test, silently.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/operations/operation.h"

namespace echolux::test {

// `assignments`: arguments, inputs, outputs and settings, such as "output=v.nrrd". Returns the operation with its
// results.
inline std::unique_ptr<Operation> run_operation(std::string_view name, const std::vector<std::string>& assignments,
                                                Backend backend = Backend::automatic) {
    std::unique_ptr<Operation> operation = operation_named(name).make();
    for (const std::string& assignment : assignments) operation->set_assignment(assignment);
    SilentProgress silent;
    Context context{silent};
    context.backend.backend = backend;
    operation->run(context);
    return operation;
}

}  // namespace echolux::test
