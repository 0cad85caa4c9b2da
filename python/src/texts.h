// Texts between Python and the library: UTF-8, including file names with arbitrary bytes, which Python represents with
// surrogateescape. Include instead of nanobind/stl/string.h, which does not accept such texts.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
    NB_TYPE_CASTER(std::string, const_name("str"))

    bool from_python(handle given, std::uint32_t, cleanup_list*) noexcept {
        if (PyUnicode_Check(given.ptr()) == 0) return false;
        Py_ssize_t size = 0;
        if (const char* const text = PyUnicode_AsUTF8AndSize(given.ptr(), &size)) {
            value.assign(text, static_cast<std::size_t>(size));
            return true;
        }
        PyErr_Clear();
        PyObject* const bytes = PyUnicode_AsEncodedString(given.ptr(), "utf-8", "surrogateescape");
        if (bytes == nullptr) {
            PyErr_Clear();
            return false;
        }
        value.assign(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
        Py_DECREF(bytes);
        return true;
    }

    static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
        return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    }
};

}  // namespace nanobind::detail
