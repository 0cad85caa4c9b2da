#!/usr/bin/env python3
"""Compares pictures of VTK's GPU volume mapper with those of Echolux: one volume, view and curve, in one run.

Both use the unchanged preset `gray` from --low to --high over the depth of the volume, steps of one voxel along each
ray, and the same eye. Without light both compute the same sum, so the pictures must agree for short steps; this is
checked first. With light each uses its own lighting model. Prints JSON with the median times of both from the call to
pixels on the host, and writes vtk.png, echolux.png and side-by-side.png with light. VTK uses the available OpenGL, by
EGL without a screen.

usage: PYTHONPATH=build/dev/python mapper.py VOLUME --low 28 --high 200 [--size 640x480] [--repeats 5] [-o FOLDER]
"""
import argparse
import json
import math
import statistics
import sys
import time
import tomllib
from pathlib import Path

import echolux
import numpy as np
import vtk
from PIL import Image
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

ROOT = Path(__file__).resolve().parents[3]
FOV = 30.0  # degrees
AMBIENT, DIFFUSE, SHINE, POWER = 0.25, 0.65, 0.1, 30  # values of Echolux; VTK lights every voxel that has a gradient
AGREES = 0.5  # max. rms difference in levels of 8 bits


def pose(eye):
    """Returns the up vector and the direction to the eye, along A-scans, depth and B-scans, as render/camera.h defines
    them."""
    azimuth, elevation, roll = (math.radians(eye[key]) for key in ("azimuth", "elevation", "roll"))
    level = np.array([math.sin(azimuth), 0, -math.cos(azimuth)])
    right = np.array([math.cos(azimuth), 0, math.sin(azimuth)])
    down = np.array([0, 1, 0])
    up = -math.cos(elevation) * down - math.sin(elevation) * level
    return (math.cos(roll) * up - math.sin(roll) * right, math.cos(elevation) * level - math.sin(elevation) * down)


class Vtk:
    def __init__(self, voxels, edges, low, high, size, eye, step, lit):
        b_scans, a_scans, depth = voxels.shape  # transposed to A-scans, depth, B-scans, with A-scans varying fastest
        image = vtk.vtkImageData()
        image.SetDimensions(a_scans, depth, b_scans)
        image.SetSpacing(edges[1], edges[0], edges[2])
        codes = numpy_to_vtk(np.ascontiguousarray(voxels.transpose(0, 2, 1)).ravel(), deep=True)
        image.GetPointData().SetScalars(codes)
        mapper = vtk.vtkGPUVolumeRayCastMapper()
        mapper.SetInputData(image)
        mapper.SetAutoAdjustSampleDistances(False)
        mapper.SetUseJittering(False)
        mapper.SetSampleDistance(step * min(edges))
        volume = vtk.vtkVolume()
        volume.SetMapper(mapper)
        volume.SetProperty(self.look(low, high, edges[0] * depth, lit))
        renderer = vtk.vtkRenderer()
        renderer.SetBackground(0, 0, 0)
        renderer.AddVolume(volume)
        self.window = vtk.vtkRenderWindow()
        self.window.SetOffScreenRendering(True)
        self.window.SetSize(*size)
        self.window.SetMultiSamples(0)
        self.window.AddRenderer(renderer)
        voxel = np.array(edges)[[1, 0, 2]]
        self.aim(renderer.GetActiveCamera(), np.array([a_scans, depth, b_scans]) * voxel, voxel, eye)
        renderer.ResetCameraClippingRange()

    @staticmethod
    def look(low, high, length, lit):
        curve = tomllib.loads((ROOT / "assets/transfer/gray.toml").read_text())["transfer"]
        colours = np.array(curve["colours"]).reshape(-1, 4)
        extinctions = np.array(curve["extinctions"]).reshape(-1, 2)
        colour, opacity = vtk.vtkColorTransferFunction(), vtk.vtkPiecewiseFunction()
        for level, *rgb in colours:
            colour.AddRGBPoint(low + level * (high - low), *rgb)
        unit = length / 1000  # so short that opacity is proportional to extinction
        for level in np.linspace(0, 1, 1024):
            extinction = np.interp(level, *extinctions.T)
            opacity.AddPoint(low + level * (high - low), 1 - math.exp(-extinction * unit / length))
        look = vtk.vtkVolumeProperty()
        look.SetColor(colour)
        look.SetScalarOpacity(opacity)
        look.SetScalarOpacityUnitDistance(unit)
        look.SetInterpolationTypeToLinear()
        look.SetShade(lit)
        look.SetAmbient(AMBIENT)
        look.SetDiffuse(DIFFUSE)
        look.SetSpecular(SHINE)
        look.SetSpecularPower(POWER)
        return look

    @staticmethod
    def aim(camera, extent, voxel, eye):
        up, towards = pose(eye)
        middle = (extent - voxel) / 2  # the centre of VTK's first voxel is at 0
        away = np.linalg.norm(extent) / 2 / math.sin(math.radians(FOV) / 2)
        camera.SetFocalPoint(*middle)
        camera.SetPosition(*(middle + away * towards))
        camera.SetViewUp(*up)
        camera.SetViewAngle(2 * math.degrees(math.atan(math.tan(math.radians(FOV) / 2) / eye["zoom"])))

    def picture(self):
        self.window.Render()
        pixels = vtk.vtkWindowToImageFilter()
        pixels.SetInput(self.window)
        pixels.ReadFrontBufferOff()
        pixels.ShouldRerenderOff()
        pixels.Update()
        width, height = self.window.GetSize()
        return vtk_to_numpy(pixels.GetOutput().GetPointData().GetScalars()).reshape(height, width, 3)[::-1]

    def device(self):
        lines = self.window.ReportCapabilities().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if "renderer string" in line)


def timed(picture, repeats):
    """Returns the picture and its rendering time."""
    shown, found = picture(), []
    for _ in range(repeats):
        start = time.perf_counter()
        picture()
        found.append(time.perf_counter() - start)
    return shown, found and {"median_s": statistics.median(found), "least_s": min(found), "greatest_s": max(found)}


def save(folder, theirs, ours):
    Image.fromarray(np.ascontiguousarray(theirs)).save(folder / "vtk.png")
    Image.fromarray(np.ascontiguousarray(ours)).save(folder / "echolux.png")
    Image.fromarray(np.concatenate([theirs, ours], 1)).save(folder / "side-by-side.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("volume", type=Path)
    parser.add_argument("--low", type=float, required=True)
    parser.add_argument("--high", type=float, required=True)
    for key, value in {"azimuth": 110, "elevation": 55, "roll": -106.6, "zoom": 1.25}.items():
        parser.add_argument("--" + key, type=float, default=value)
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, default=Path("."))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)

    eye = {key: getattr(arguments, key) for key in ("azimuth", "elevation", "roll", "zoom")}
    width, height = map(int, arguments.size.split("x"))
    read = echolux.load(arguments.volume).read()
    edges = read.spacing_um[::-1]  # depth first
    voxels = np.pad(np.asarray(read), 1)  # VTK's volume ends at voxel centres: pad it
    volume = echolux.Volume.from_array(voxels, spacing_um=read.spacing_um)
    result = {"volume": arguments.volume.name, "voxels": list(voxels.shape), "size": [width, height],
              "vtk": vtk.vtkVersion().GetVTKVersion()}
    for name, lit, step in (("fine", False, 0.25), ("unlit", False, 1), ("lit", True, 1)):
        vtks = Vtk(voxels, edges, arguments.low, arguments.high, (width, height), eye, step, lit)
        view = {"width": width, "height": height, "preset": "gray", "low": arguments.low, "high": arguments.high,
                "background": [0, 0, 0], "box": False, "lighting": lit, "lighting_strength": 1.0,
                "step": step, **eye}
        repeats = 0 if name == "fine" else arguments.repeats
        theirs, their_time = timed(vtks.picture, repeats)
        ours, our_time = timed(lambda: volume.render(**view), repeats)
        result["device"] = vtks.device()
        ours = ours[:, :, :3]
        save(arguments.output, theirs, ours)
        apart = float(np.sqrt(np.mean((ours.astype(float) - theirs) ** 2)))
        result[name] = {"vtk": their_time, "echolux": our_time, "apart_of_255": apart}
        if name == "fine" and apart > AGREES:
            print(json.dumps(result, indent=1))
            sys.exit(f"without light the pictures are {apart:.1f} levels apart: not the same view or curve")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
