// Converts errors of the library to the exceptions of echolux/errors.py.
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/work.h"

namespace echolux::python {
namespace {

// Sets the Python exception. If it cannot be made, the exception of making it is set instead.
void raise(const api::Error& error) {
    try {
        const nb::object made = nb::module_::import_("echolux.errors")
                                    .attr("made")(static_cast<int>(error.status()), text_of(error.problem()),
                                                  text_of(error.where(), "surrogateescape"),  // may be a file name
                                                  text_of(error.remedy()));
        PyErr_SetObject(made.type().ptr(), made.ptr());
    } catch (nb::python_error& other) {
        other.restore();
    }
}

}  // namespace

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const api::Error& error) {
            raise(error);
        }
    });
}

}  // namespace echolux::python
