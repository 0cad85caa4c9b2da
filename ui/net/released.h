// Smart pointers for OpenSSL objects with their release functions.
#pragma once

#include <memory>

namespace echolux {

template <auto release>
struct Release {
    template <class Object>
    void operator()(Object* object) const {
        release(object);
    }
};
template <class Object, auto release>
using Released = std::unique_ptr<Object, Release<release>>;

}  // namespace echolux
