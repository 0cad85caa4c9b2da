// Pictures of volumes.
#include <nanobind/ndarray.h>

#include "python/src/bindings.h"
#include "python/src/settings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

using View = Shared<api::View>;
using Renderer = Shared<api::Renderer>;
using Rgba = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<3>>;

Rgba render(const Renderer& renderer, const Volume& volume, const Volume* flow, const View& view) {
    const auto seen = volume.share();
    const auto flowing = flow == nullptr ? nullptr : flow->share();
    auto picture = std::make_unique<api::Picture>(watched(nb::none(), [=](const api::Progress&) {
        return renderer.locked([&](api::Renderer& one) {
            return view.locked([&](api::View& from) { return one.render(*seen, from, flowing.get()); });
        });
    }));
    api::Picture* const made = picture.release();
    const nb::capsule owner(made, [](void* one) noexcept { delete static_cast<api::Picture*>(one); });
    return Rgba(made->rgba.data(), {made->height, made->width, 4}, owner);
}

}  // namespace

void bind_pictures(nb::module_& module) {
    nb::class_<View>(module, "View", "Camera, colours, light and cuts of a picture.")
        .def("__init__", [](View* self) { new (self) View(released([] { return api::View(); })); })
        .def("settings", [](const View& view) { return Settings::of(view); });
    nb::class_<Renderer>(module, "Renderer", "Makes pictures.")
        .def(
            "__init__",
            [](Renderer* self, const std::string& device) {
                new (self) Renderer(released([&] { return api::Renderer(device); }));
            },
            nb::arg("device") = "")
        .def("render", &render, nb::arg("volume"), nb::arg("flow").none(), nb::arg("view"));
}

}  // namespace echolux::python
