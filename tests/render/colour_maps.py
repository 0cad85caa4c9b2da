#!/usr/bin/env python3
"""Creates the files of assets/colour_maps and the vectors of their test.

viridis, magma, inferno, plasma (S. van der Walt, N. Smith) and cividis (J. R. Nunez et al., PLOS ONE 13(7), 2018) are
read from Matplotlib, which published them under CC0. flow, flow-red-blue and cyclic are computed
here. Needs `pip install
matplotlib`.

colour_maps.py NAME     prints the colours of assets/colour_maps/NAME.txt
colour_maps.py vectors  prints 256 colours per map for colour_maps.txt: name, then six hex digits per colour
"""
import sys

import numpy as np

listed = ["viridis", "magma", "inferno", "plasma", "cividis"]
node_count = 65
levels = np.linspace(0, 1, 256)


def matplotlib_colours(name):
    from matplotlib import colormaps

    return colormaps[name](np.arange(256))[:, :3]


def srgb_of_oklab(lightness, a, b):
    """B. Ottosson, "A perceptual color space for image processing", 2020."""
    l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = np.stack([4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                       -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                       -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s], axis=-1)
    above = np.maximum(linear, 0.0031308)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * above ** (1 / 2.4) - 0.055)


def in_gamut(lightness, chroma, hue):
    colour = srgb_of_oklab(lightness, chroma * np.cos(hue), chroma * np.sin(hue))
    return np.all((colour >= -1e-9) & (colour <= 1 + 1e-9))


def strongest(lightness, hue):
    low, high = 0.0, 0.4
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if in_gamut(lightness, middle, hue) else (low, middle)
    return low


def flow_colours(at, low_hue=(256, 218), high_hue=(48, 92)):
    """Blue on one side, orange on the other, and a dark but visible gray in between. Lightness depends only on the
    distance from the middle. All moving blood is bright and as colourful as possible, so that it stands out from gray
    tissue. Lightness encodes speed, and so does hue, which varies from the first to the second value of each pair. All
    kinds of dichromats can distinguish blue and orange; most can distinguish blue and red, as in clinical Doppler."""
    moving = 0.12  # of the range
    colours = []
    for level in at:
        away = 2 * level - 1
        full = min(1.0, abs(away) / moving)
        lightness = 0.40 + 0.20 * full + 0.26 * max(0.0, abs(away) - moving) / (1 - moving)
        slow, fast = high_hue if away > 0 else low_hue
        hue = np.radians(slow + (fast - slow) * abs(away))
        chroma = 0.98 * full * strongest(lightness, hue)
        colours.append(srgb_of_oklab(lightness, chroma * np.cos(hue), chroma * np.sin(hue)))
    return np.clip(np.array(colours), 0, 1)


def cyclic_colours(at):
    """For axes and phases: one turn of hue in OKLab from red, at the lightness where the most colourful circle fits into sRGB, so
    that no angle stands out and both ends are the same."""
    hues = np.radians(np.arange(360))

    def chroma(lightness):
        return min(strongest(lightness, hue) for hue in hues[::6])

    lightness = max(np.linspace(0.6, 0.85, 26), key=chroma)
    common = 0.99 * min(strongest(lightness, hue) for hue in hues)
    angles = [2 * np.pi * level + np.radians(29) for level in at]
    return np.clip([srgb_of_oklab(lightness, common * np.cos(a), common * np.sin(a)) for a in angles], 0, 1)


def nodes_of(name):
    """Evenly spaced nodes whose linear interpolation is closest to the 256 colours."""
    places = np.linspace(0, 1, node_count)
    if name == "flow":
        return flow_colours(places)
    if name == "flow-red-blue":
        return flow_colours(places, (264, 225), (27, 60))
    if name == "cyclic":
        return cyclic_colours(places)
    weights = np.stack([np.interp(levels, places, row) for row in np.eye(node_count)], axis=1)
    return np.clip(np.linalg.lstsq(weights, matplotlib_colours(name), rcond=None)[0], 0, 1)


def print_nodes(name):
    for colour in np.rint(255 * nodes_of(name)).astype(int):
        print("%02x%02x%02x" % tuple(colour))


def print_vectors():
    for name in listed:
        print(name, *("%02x%02x%02x" % tuple(np.rint(255 * c).astype(int)) for c in matplotlib_colours(name)))


if __name__ == "__main__":
    print_vectors() if sys.argv[1] == "vectors" else print_nodes(sys.argv[1])
