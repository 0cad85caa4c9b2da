// Speckle reduction, segmentation, registration, attenuation, and flow through vessels; see tissue.h.
#ifndef ECHOLUX_TISSUE_HPP
#define ECHOLUX_TISSUE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scan.hpp"
#include "tissue.h"
#include "volume.hpp"

namespace echolux::api {

namespace detail {

inline std::vector<const echolux_volume*> handles(const std::vector<const Volume*>& volumes) {
    std::vector<const echolux_volume*> all;
    for (const Volume* volume : volumes) all.push_back(volume->get());
    return all;
}

inline const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

// Calls call(progress callback, user, error) and throws if it fails.
template <class Call>
void told(const Progress& progress, const Call& call) {
    auto* user = const_cast<Progress*>(&progress);
    checked([&](auto* error) { return call(progress ? tell : nullptr, user, error); });
}

}  // namespace detail

// Settings of the tissue analyses. `layers` is the layer model.
class Tissue {
  public:
    explicit Tissue(const Assignments& assignments = {}, const std::string& layers = {}) {
        const auto all = detail::pointers(assignments);
        echolux_tissue* handle = nullptr;
        checked([&](auto* error) {
            return echolux_tissue_create(detail::or_null(layers), all.data(), all.size(), &handle, error);
        });
        handle_.reset(handle);
    }

    Settings settings() {
        echolux_settings* settings = nullptr;
        checked([&](auto* error) { return echolux_tissue_settings(get(), &settings, error); });
        return Settings(settings);
    }

    echolux_tissue* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_tissue, echolux_tissue_free> handle_;
};

// Reduces speckle.
inline Volume filter(const Volume& volume, const Tissue& tissue = Tissue(),
                     const echolux_device& device = make<echolux_device>(), const Progress& progress = {}) {
    echolux_volume* handle = nullptr;
    detail::told(progress, [&](auto told, void* user, auto* error) {
        return echolux_filter(volume.get(), tissue.get(), &device, told, user, &handle, error);
    });
    return Volume(handle);
}

struct Average {
    Volume mean;
    double independent;  // equivalent number of independent looks
};
inline Average average(const std::vector<const Volume*>& volumes, const Tissue& tissue = Tissue()) {
    const auto all = detail::handles(volumes);
    echolux_volume* handle = nullptr;
    double independent = 0;
    checked([&](auto* error) {
        return echolux_average(all.data(), all.size(), tissue.get(), &handle, &independent, error);
    });
    return {Volume(handle), independent};
}

struct Attenuation {
    Volume coefficients;
    echolux_attenuation_stats stats;
};
inline Attenuation attenuation(const Volume& volume, const Tissue& tissue = Tissue(), const Progress& progress = {}) {
    echolux_volume* handle = nullptr;
    auto stats = make<echolux_attenuation_stats>();
    detail::told(progress, [&](auto told, void* user, auto* error) {
        return echolux_attenuation(volume.get(), tissue.get(), told, user, &handle, &stats, error);
    });
    return {Volume(handle), stats};
}

// Surfaces between the layers of a volume.
class Surfaces {
  public:
    explicit Surfaces(echolux_surfaces* handle) : handle_(handle) {}

    static Surfaces open(const std::string& path, const Volume& volume) {
        echolux_surfaces* handle = nullptr;
        checked([&](auto* error) { return echolux_surfaces_open(path.c_str(), volume.get(), &handle, error); });
        return Surfaces(handle);
    }

    echolux_surfaces_facts facts() const {
        auto facts = make<echolux_surfaces_facts>();
        checked([&](auto* error) { return echolux_surfaces_describe(get(), &facts, error); });
        return facts;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < static_cast<std::size_t>(facts().count); ++i)
            all.push_back(detail::text([&](auto... to) { return echolux_surfaces_name(get(), i, to...); }));
        return all;
    }
    void read(const echolux_surface_places& places) const {
        checked([&](auto* error) { return echolux_surfaces_read(get(), &places, error); });
    }
    std::string warnings() const {
        return detail::text([&](auto... to) { return echolux_surfaces_warnings(get(), to...); });
    }
    std::string table() const {
        return detail::text([&](auto... to) { return echolux_surfaces_table(get(), to...); });
    }
    Volume volume() const {
        return made([&](auto** to, auto* error) { return echolux_surfaces_volume(get(), to, error); });
    }
    // With two empty names, one slice per layer.
    Volume thickness(const std::string& upper = {}, const std::string& lower = {}) const {
        return made([&](auto** to, auto* error) {
            return echolux_surfaces_thickness(get(), detail::or_null(upper), detail::or_null(lower), to, error);
        });
    }
    // Projects the slab between two surfaces to an en face map.
    Volume en_face(const Volume& of, const echolux_slab& slab = make<echolux_slab>()) const {
        return made(
            [&](auto** to, auto* error) { return echolux_surfaces_en_face(get(), of.get(), &slab, to, error); });
    }
    // Shifts `of` in depth so that surface `level` is flat; `back` undoes it.
    Volume flattened(const Volume& of, const std::string& level = {}, bool back = false) const {
        return made([&](auto** to, auto* error) {
            return echolux_surfaces_flatten(get(), of.get(), detail::or_null(level), back ? 1 : 0, to, error);
        });
    }

    echolux_surfaces* get() const { return handle_.get(); }

  private:
    template <class Call>
    static Volume made(const Call& call) {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return call(&handle, error); });
        return Volume(handle);
    }

    detail::Owned<echolux_surfaces, echolux_surfaces_free> handle_;
};

// Finds the surfaces of a structure volume.
inline Surfaces segment(const Volume& volume, const Tissue& tissue = Tissue(),
                        const echolux_device& device = make<echolux_device>(), const Progress& progress = {}) {
    echolux_surfaces* handle = nullptr;
    detail::told(progress, [&](auto told, void* user, auto* error) {
        return echolux_segment(volume.get(), tissue.get(), &device, told, user, &handle, error);
    });
    return Surfaces(handle);
}

// Positions of the B-scans of volumes.
class Registration {
  public:
    // `reference`: nullptr to use `reference_volume` of the volumes.
    explicit Registration(const std::vector<const Volume*>& volumes, const Volume* reference = nullptr,
                          std::int64_t reference_volume = 0, const Tissue& tissue = Tissue(),
                          const echolux_device& device = make<echolux_device>(), const Progress& progress = {}) {
        const auto all = detail::handles(volumes);
        const echolux_volume* to = reference == nullptr ? nullptr : reference->get();
        echolux_registration* handle = nullptr;
        detail::told(progress, [&](auto told, void* user, auto* error) {
            return echolux_register(all.data(), all.size(), to, reference_volume, tissue.get(), &device, told, user,
                                    &handle, error);
        });
        handle_.reset(handle);
    }

    void shifts(const echolux_shifts& shifts) const {
        checked([&](auto* error) { return echolux_registration_shifts(get(), &shifts, error); });
    }
    std::string table() const {
        return detail::text([&](auto... to) { return echolux_registration_table(get(), to...); });
    }
    std::string warnings() const {
        return detail::text([&](auto... to) { return echolux_registration_warnings(get(), to...); });
    }
    Volume mean() const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_registration_mean(get(), &handle, error); });
        return Volume(handle);
    }
    // Returns one volume with its B-scans at their registered positions; NaN without data.
    Volume volume(std::int64_t number) const {
        echolux_volume* handle = nullptr;
        checked([&](auto* error) { return echolux_registration_volume(get(), number, &handle, error); });
        return Volume(handle);
    }

    echolux_registration* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_registration, echolux_registration_free> handle_;
};

// Flow through a vessel section over time.
class VesselFlow {
  public:
    // `structures`: empty, or one per volume of velocities.
    explicit VesselFlow(const std::vector<const Volume*>& velocities, const std::vector<const Volume*>& structures = {},
                        const echolux_flow_spec& spec = make<echolux_flow_spec>(), const Tissue& tissue = Tissue(),
                        const Progress& progress = {}) {
        const auto moving = detail::handles(velocities), still = detail::handles(structures);
        echolux_vessel_flow* handle = nullptr;
        if (!still.empty() && still.size() != moving.size()) {
            auto error = make<echolux_error>();
            error.code = ECHOLUX_BAD_ARGUMENT;
            std::string("are not as many as the velocities").copy(error.what, sizeof error.what - 1);
            std::string("structures").copy(error.where, sizeof error.where - 1);
            throw Error(error);
        }
        detail::told(progress, [&](auto told, void* user, auto* error) {
            return echolux_flow(moving.data(), still.empty() ? nullptr : still.data(), moving.size(), &spec,
                                tissue.get(), told, user, &handle, error);
        });
        handle_.reset(handle);
    }

    echolux_flow_facts facts() const {
        auto facts = make<echolux_flow_facts>();
        checked([&](auto* error) { return echolux_vessel_flow_describe(get(), &facts, error); });
        return facts;
    }
    void read(const echolux_flow_values& values) const {
        checked([&](auto* error) { return echolux_vessel_flow_read(get(), &values, error); });
    }
    std::string table() const {
        return detail::text([&](auto... to) { return echolux_vessel_flow_table(get(), to...); });
    }
    // Returns why no heart rate was found; empty if one was found.
    std::string heart_problem() const {
        return detail::text([&](auto... to) { return echolux_vessel_flow_heart_problem(get(), to...); });
    }
    std::string warnings() const {
        return detail::text([&](auto... to) { return echolux_vessel_flow_warnings(get(), to...); });
    }

    echolux_vessel_flow* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_vessel_flow, echolux_vessel_flow_free> handle_;
};

}  // namespace echolux::api

#endif
