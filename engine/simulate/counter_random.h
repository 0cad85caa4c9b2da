// Counter-based random numbers. Scatterers and noise samples have keys, and the value is a hash of the key. Results
// therefore do not depend on the order of work or the number of threads. The hash is the finalizer of splitmix64
// (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace echolux {

inline std::uint64_t hashed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Returns the hash of several numbers, most general first.
template <class... Rest>
std::uint64_t hashed(std::uint64_t x, std::uint64_t y, Rest... rest) {
    return hashed(hashed(x) ^ y, static_cast<std::uint64_t>(rest)...);
}

// Returns a number in [0, 1) from the upper 53 bits.
inline double fraction(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Return numbers in [0, 1) from the lower and the upper half of the bits.
inline double low_fraction(std::uint64_t bits) {
    return static_cast<double>(bits & 0xffffffffU) * 0x1p-32;
}
inline double high_fraction(std::uint64_t bits) {
    return static_cast<double>(bits >> 32) * 0x1p-32;
}

}  // namespace echolux
