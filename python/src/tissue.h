// What is done with tissue: its settings, and how calls with them are made.
#pragma once

#include <string>
#include <vector>

#include "python/src/arrays.h"
#include "python/src/volume.h"
#include "python/src/work.h"

namespace echolux::python {

using Tissue = Shared<api::Tissue>;

// The handles of volumes, which live as long as these.
inline std::vector<const api::Volume*> handles_of(const std::vector<Volume>& volumes) {
    std::vector<const api::Volume*> all;
    for (const Volume& volume : volumes) all.push_back(&volume.get());
    return all;
}

// work(settings, progress) on a thread of its own.
template <class Work>
auto done_with(const Tissue& tissue, const nb::object& progress, Work work) {
    return watched(progress, [tissue, work = std::move(work)](const api::Progress& told) {
        return tissue.locked([&](api::Tissue& one) { return work(one, told); });
    });
}

// Of one of several arrays of Python that receive numbers.
template <class T>
T* data_of(const Facts& arrays, const char* name) {
    return static_cast<T*>(array_of<AnyArray>(arrays[name], name).data());
}

// What codes 0, 1 ... are called.
inline std::vector<std::string> names_of_codes(const char* (*name_of)(std::int32_t)) {
    std::vector<std::string> all;
    while (const char* name = name_of(static_cast<std::int32_t>(all.size()))) all.emplace_back(name);
    return all;
}

}  // namespace echolux::python
