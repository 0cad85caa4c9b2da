// Settings of the tissue analyses, and helpers for calls that use them.
#pragma once

#include <string>
#include <vector>

#include "python/src/arrays.h"
#include "python/src/volume.h"
#include "python/src/work.h"

namespace echolux::python {

using Tissue = Shared<api::Tissue>;

// Handles of volumes, valid as long as the volumes.
inline std::vector<const api::Volume*> handles_of(const std::vector<Volume>& volumes) {
    std::vector<const api::Volume*> all;
    for (const Volume& volume : volumes) all.push_back(&volume.get());
    return all;
}

// Runs work(settings, progress) on its own thread.
template <class Work>
auto done_with(const Tissue& tissue, const nb::object& progress, Work work) {
    return watched(progress, [tissue, work = std::move(work)](const api::Progress& told) {
        return tissue.locked([&](api::Tissue& one) { return work(one, told); });
    });
}

// Data of one of several Python arrays that receive numbers.
template <class T>
T* data_of(const Facts& arrays, const char* name) {
    return static_cast<T*>(array_of<AnyArray>(arrays[name], name).data());
}

// Names of codes 0, 1 ...
inline std::vector<std::string> names_of_codes(const char* (*name_of)(std::int32_t)) {
    std::vector<std::string> all;
    while (const char* name = name_of(static_cast<std::int32_t>(all.size()))) all.emplace_back(name);
    return all;
}

}  // namespace echolux::python
