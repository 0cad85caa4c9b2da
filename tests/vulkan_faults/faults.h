// The plan and the results that a test and the layer exchange.
#pragma once

#include <cstdint>

namespace echolux::test {

enum class FaultTime : std::int32_t { once, for_good };

struct VulkanFaultPlan {
    std::int64_t at = 0;  // number of the failing call, from 1; 0: none
    FaultTime time = FaultTime::once;
};

struct VulkanFaultsSeen {
    std::int64_t calls = 0;         // calls that could have failed
    std::int64_t failed = 0;        // calls that failed
    std::int64_t instances = 0;     // created through the layer; 0: the layer was not active
    std::int64_t objects = 0;       // created and not yet destroyed
    const char* first_failed = "";  // name of the first function that failed
    const char* an_object_of = "";  // if objects are left: the function that created one of them
};

}  // namespace echolux::test
