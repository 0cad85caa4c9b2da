// What the layer is asked for, and what it has seen, as a test and the layer hand it to each other.
#pragma once

#include <cstdint>

namespace echolux::test {

enum class FaultTime : std::int32_t { once, for_good };

struct VulkanFaultPlan {
    std::int64_t at = 0;  // the call that fails, counted from 1; 0: none
    FaultTime time = FaultTime::once;
};

struct VulkanFaultsSeen {
    std::int64_t calls = 0;         // that could have failed
    std::int64_t failed = 0;        // that did
    std::int64_t instances = 0;     // made through the layer; none: nothing was seen
    std::int64_t objects = 0;       // made and not destroyed
    const char* first_failed = "";  // function
    const char* an_object_of = "";  // where objects are left: the function that made one of them
};

}  // namespace echolux::test
