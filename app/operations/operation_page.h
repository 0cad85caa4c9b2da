// Descriptions of operations as Markdown, for docs/operations.md.
#pragma once

#include <string>
#include <vector>

#include "app/operations/operation.h"

namespace echolux {

// Returns one chapter per operation with its inputs, arguments, outputs and results.
std::string operations_page(const std::vector<const OperationInfo*>& some);

}  // namespace echolux
