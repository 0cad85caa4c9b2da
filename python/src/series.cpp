// Time points of files: each is a volume that is read when it is wanted.
#include <nanobind/stl/string.h>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

class Series {
  public:
    explicit Series(api::Series&& opened) : series_(std::move(opened)) {
        count_ = series_.with([](api::Series& one) { return one.size(); });
    }

    std::int64_t count() const { return count_; }
    double step_s() const {
        return series_.with([](api::Series& one) { return one.step_s(); });
    }
    Volume read(std::int64_t time_point) const {
        return watched(nb::none(), [series = series_, time_point](const api::Progress&) {
            return series.locked([&](api::Series& one) { return Volume(one.read(time_point)); });
        });
    }

  private:
    Shared<api::Series> series_;
    std::int64_t count_;
};

Series opened(const std::string& path) {
    return Series(watched(nb::none(), [path](const api::Progress&) { return api::Series::open(path); }));
}

}  // namespace

void bind_series(nb::module_& module) {
    nb::class_<Series>(module, "Series", "Volumes of files, one for each time point.")
        .def_static("open", &opened, nb::arg("path"))
        .def("__len__", &Series::count)
        .def_prop_ro("step_s", &Series::step_s)
        .def("read", &Series::read, nb::arg("time_point"));
}

}  // namespace echolux::python
