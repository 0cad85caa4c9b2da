// Objects of OpenSSL, each released by the function that it names for that.
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
