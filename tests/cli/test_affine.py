"""Position, orientation and units through every pair of formats, read and written by code that is not ours: nibabel,
pydicom, and, where they are installed, pynrrd and SimpleITK. Voxels must never be flipped or moved."""
import json
import re
import unittest

import nibabel
import numpy as np

from support import ProgramCase, read_meta_image, read_nrrd

try:
    import nrrd
except ImportError:
    nrrd = None
try:
    import SimpleITK
except ImportError:
    SimpleITK = None
try:
    import pydicom
except ImportError:
    pydicom = None

LPS = np.diag([-1.0, -1.0, 1.0, 1.0])  # from RAS and back
VOXELS = (np.arange(5 * 6 * 7).reshape(5, 6, 7) * 37 % 251).astype("i2")  # [column][row][slice], as nibabel has them
HOLD_ORIENTATION = [".nii", ".nii.gz", ".nrrd", ".mha"]
KEEP_NOTES = [".ome.tif", ".h5", ".ome.zarr"]


def turned(x, y, z):
    """A rotation by angles in degrees."""
    a, b, c = np.radians([x, y, z])
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    about_z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def affine(directions, spacing=(0.9, 1.1, 2.5), origin=(-90.5, 126.25, -72)):
    matrix = np.eye(4)
    matrix[:3, :3] = directions @ np.diag(spacing)
    matrix[:3, 3] = origin
    return matrix


# From voxels to RAS, in mm.
AFFINES = {
    "RAS": affine(np.eye(3)),
    "LPS": affine(np.diag([-1, -1, 1])),
    "LAS": affine(np.diag([-1, 1, 1])),  # left-handed
    "sagittal": affine(np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])),
    "oblique": affine(turned(10, -20, 35)),
    "half a turn": affine(turned(180, 0, 0)),
    "oblique, left-handed": affine(turned(-70, 15, 160) @ np.diag([1, 1, -1])),
}
SHEARED = AFFINES["oblique"].copy()
SHEARED[:3, 2] += 0.4 * SHEARED[:3, 0]


def fields_of(path, separator):
    header = path.read_bytes()[:4000].decode("latin-1")
    return dict(re.findall(rf"^([\w ]+?){separator}(.*)$", header, re.M))


def nrrd_affine(path):
    fields = fields_of(path, ": ")
    assert fields["space"] == "left-posterior-superior"
    vectors = [[float(x) for x in v.split(",")] for v in re.findall(r"\(([^)]*)\)", fields["space directions"])]
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(vectors).T
    matrix[:3, 3] = [float(x) for x in fields["space origin"].strip("()").split(",")]
    return LPS @ matrix


def meta_affine(path):
    fields = fields_of(path, " = ")
    numbers = {key: np.array([float(x) for x in fields[key].split()]) for key in ("TransformMatrix", "Offset", "ElementSpacing")}
    matrix = np.eye(4)
    matrix[:3, :3] = numbers["TransformMatrix"].reshape(3, 3).T * numbers["ElementSpacing"]
    matrix[:3, 3] = numbers["Offset"]
    return LPS @ matrix


class Affine(ProgramCase):
    def write_nifti(self, name, matrix, code=1, unit="mm"):
        image = nibabel.Nifti1Image(VOXELS, matrix)
        image.set_sform(matrix, code)
        image.set_qform(matrix, code, strip_shears=True)
        image.header.set_xyzt_units(unit)
        nibabel.save(image, self.folder / name)

    def write_nrrd(self, name, matrix, space="left-posterior-superior"):
        """`matrix`: to the axes of `space`."""
        vectors = " ".join("({})".format(",".join(map(repr, map(float, matrix[:3, axis])))) for axis in range(3))
        origin = ",".join(map(repr, map(float, matrix[:3, 3])))
        header = (f"NRRD0004\ntype: short\ndimension: 3\nspace: {space}\nsizes: 5 6 7\nspace directions: {vectors}\n"
                  f"kinds: domain domain domain\nendian: little\nencoding: raw\nspace origin: ({origin})\n\n")
        (self.folder / name).write_bytes(header.encode() + VOXELS.T.tobytes())

    def write_meta(self, name, matrix):
        """`matrix`: to LPS."""
        spacing = np.linalg.norm(matrix[:3, :3], axis=0)
        words = lambda numbers: " ".join(map(repr, map(float, np.ravel(numbers))))
        header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
                  f"TransformMatrix = {words((matrix[:3, :3] / spacing).T)}\nOffset = {words(matrix[:3, 3])}\n"
                  f"ElementSpacing = {words(spacing)}\nDimSize = 5 6 7\nElementType = MET_SHORT\nElementDataFile = LOCAL\n")
        (self.folder / name).write_bytes(header.encode() + VOXELS.T.tobytes())

    def check(self, name, expected, message=None):
        path = self.folder / name
        if name.endswith(".nrrd"):
            found, voxels = nrrd_affine(path), read_nrrd(path)
        elif name.endswith(".mha"):
            found, voxels = meta_affine(path), read_meta_image(path)
        else:
            image = nibabel.load(path)
            found, voxels = image.affine, np.asarray(image.dataobj).T
        np.testing.assert_allclose(found, expected, atol=2e-5, err_msg=str(message or name))
        np.testing.assert_array_equal(voxels, VOXELS.T, str(message or name))

    def convert(self, source, target):
        return json.loads(self.succeed("convert", source, target, "--overwrite", "--json").out)

    def test_every_pair_of_formats_keeps_affine(self):
        for name, matrix in AFFINES.items():
            self.write_nifti("in.nii.gz", matrix)
            self.write_nrrd("in.nrrd", LPS @ matrix)
            self.write_meta("in.mha", LPS @ matrix)
            for source in ("in.nii.gz", "in.nrrd", "in.mha"):
                for ending in HOLD_ORIENTATION:
                    with self.subTest(affine=name, source=source, ending=ending):
                        self.assertNotIn("warnings", {k for k, v in self.convert(source, "out" + ending).items() if v})
                        self.check("out" + ending, matrix)

    def test_notes_preserve_orientation_in_other_formats(self):
        matrix = AFFINES["oblique, left-handed"]
        self.write_nifti("in.nii.gz", matrix)
        for ending in KEEP_NOTES:
            report = self.convert("in.nii.gz", "between" + ending)
            self.assertEqual(len(report["warnings"]), 1, report)
            self.assertRegex(report["warnings"][0], "no field for position and orientation")
            for last in ("out.nii", "out.nrrd", "out.mha"):
                with self.subTest(between=ending, last=last):
                    self.convert("between" + ending, last)
                    self.check(last, matrix)

    def test_both_forms_of_nifti(self):
        for name, matrix in AFFINES.items():
            with self.subTest(name):
                self.write_nifti("both.nii", matrix, code=4)
                self.convert("both.nii", "out.nii")
                header = nibabel.load(self.folder / "out.nii").header
                np.testing.assert_allclose(header.get_qform(), matrix, atol=2e-5)
                self.assertEqual((int(header["sform_code"]), int(header["qform_code"])), (4, 4))
                image = nibabel.Nifti1Image(VOXELS, None)
                image.set_qform(matrix, 1)
                image.set_sform(None, 0)
                nibabel.save(image, self.folder / "quaternion.nii")
                self.convert("quaternion.nii", "out.nii")
                self.check("out.nii", matrix)

    def test_shear_is_stored_in_sform_only(self):
        self.write_nifti("sheared.nii", SHEARED)
        for ending in HOLD_ORIENTATION:
            self.convert("sheared.nii", "out" + ending)
            self.check("out" + ending, SHEARED)
        self.assertEqual(int(nibabel.load(self.folder / "out.nii").header["qform_code"]), 0)

    def test_missing_form_stays_missing(self):
        self.write_nifti("none.nii", np.eye(4), code=0)
        self.convert("none.nii", "out.nii")
        header = nibabel.load(self.folder / "out.nii").header
        self.assertEqual((int(header["sform_code"]), int(header["qform_code"])), (0, 0))

    def test_units(self):
        matrix = AFFINES["oblique"]
        for unit, factor in (("mm", 1), ("micron", 1e-3), ("meter", 1e3)):
            with self.subTest(unit):
                in_unit = matrix.copy()
                in_unit[:3] /= factor
                self.write_nifti("in.nii", in_unit, unit=unit)
                for ending in (".nii", ".nrrd", ".mha"):
                    self.convert("in.nii", "out" + ending)
                    self.check("out" + ending, matrix)
                self.assertEqual(nibabel.load(self.folder / "out.nii").header.get_xyzt_units()[0], "mm")
        self.write_nifti("in.nii", matrix, unit="unknown")  # mostly meant as mm; the spacing must stay
        for ending in (".nii", ".nrrd", ".mha"):
            self.convert("in.nii", "out" + ending)
            self.check("out" + ending, matrix)
        self.assertEqual(nibabel.load(self.folder / "out.nii").header.get_xyzt_units()[0], "unknown")

    def test_reads_spaces_of_nrrd(self):
        for space, flips in (("right-anterior-superior", [1, 1, 1]), ("RAS", [1, 1, 1]),
                             ("left-anterior-superior", [-1, 1, 1]), ("LPS", [-1, -1, 1]),
                             ("scanner-xyz", [-1, -1, 1])):  # as ITK reads it
            with self.subTest(space):
                self.write_nrrd("in.nrrd", np.diag([*flips, 1]) @ AFFINES["oblique"], space)
                self.convert("in.nrrd", "out.nii")
                self.check("out.nii", AFFINES["oblique"])

    def test_warns_once_of_properties_that_numpy_cannot_hold(self):
        self.write_nifti("in.nii", AFFINES["oblique"])
        report = self.convert("in.nii", "out.npy")
        self.assertEqual(len(report["warnings"]), 1, report)
        self.assertRegex(report["warnings"][0], r"NumPy cannot hold spacings and their unit, position and orientation")
        self.assertRegex(self.succeed("convert", "in.nii", "again.npy").err, r"echolux: warning: again.npy: NumPy cannot hold")

    def test_keeps_own_volumes(self):
        np.save(self.folder / "plain.npy", VOXELS.T)
        for ending in HOLD_ORIENTATION:
            self.assertFalse(self.convert("plain.npy", "out" + ending).get("warnings"))
            self.check("out" + ending, LPS)

    @unittest.skipIf(pydicom is None, "pydicom is not installed")
    def test_dicom_slices(self):
        lps = LPS @ AFFINES["oblique"]
        uid = pydicom.uid.generate_uid()
        for k in range(7):
            data = pydicom.dataset.FileDataset(None, {}, preamble=b"\0" * 128)
            data.file_meta = pydicom.dataset.FileMetaDataset()
            data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
            data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = "1.2.840.10008.5.1.4.1.1.4"
            data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = f"{uid}.{k}"
            data.is_little_endian, data.is_implicit_VR = True, False
            data.Modality, data.SeriesInstanceUID, data.InstanceNumber = "MR", uid, k + 1
            data.Rows, data.Columns = 6, 5
            data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
            data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
            data.PixelSpacing = [1.1, 0.9]  # between rows, between columns
            directions = lps[:3, :3] / [0.9, 1.1, 2.5]
            data.ImageOrientationPatient = [f"{x:.10f}" for x in directions[:, :2].T.ravel()]
            data.ImagePositionPatient = [f"{x:.10f}" for x in lps[:3, 3] + k * lps[:3, 2]]
            data.SliceThickness = 2.5
            data.PixelData = VOXELS[:, :, k].T.tobytes()
            (self.folder / "slices").mkdir(exist_ok=True)
            pydicom.dcmwrite(self.folder / "slices" / f"{k}.dcm", data, write_like_original=False)
        for ending in HOLD_ORIENTATION:
            with self.subTest(ending):
                self.convert("slices", "out" + ending)
                self.check("out" + ending, AFFINES["oblique"])

    @unittest.skipIf(nrrd is None, "pynrrd is not installed")
    def test_pynrrd(self):
        matrix = LPS @ AFFINES["oblique"]
        nrrd.write(str(self.folder / "in.nrrd"), VOXELS, {
            "space": "left-posterior-superior", "space directions": matrix[:3, :3].T, "space origin": matrix[:3, 3]})
        self.convert("in.nrrd", "out.nii")
        self.check("out.nii", AFFINES["oblique"])
        self.convert("out.nii", "out.nrrd")
        voxels, header = nrrd.read(str(self.folder / "out.nrrd"))
        np.testing.assert_allclose(header["space directions"], matrix[:3, :3].T, atol=2e-5)
        np.testing.assert_allclose(header["space origin"], matrix[:3, 3], atol=2e-5)
        np.testing.assert_array_equal(voxels, VOXELS)

    @unittest.skipIf(SimpleITK is None, "SimpleITK is not installed")
    def test_simple_itk(self):
        lps = LPS @ AFFINES["oblique"]
        image = SimpleITK.GetImageFromArray(VOXELS.T)
        image.SetSpacing((0.9, 1.1, 2.5))
        image.SetOrigin(lps[:3, 3].tolist())
        image.SetDirection((lps[:3, :3] / [0.9, 1.1, 2.5]).ravel().tolist())
        for source in (".mha", ".nrrd", ".nii"):
            SimpleITK.WriteImage(image, str(self.folder / ("in" + source)))
            for target in (".mha", ".nrrd", ".nii"):
                with self.subTest(source=source, target=target):
                    self.convert("in" + source, "out" + target)
                    found = SimpleITK.ReadImage(str(self.folder / ("out" + target)))
                    np.testing.assert_allclose(found.GetDirection(), image.GetDirection(), atol=2e-5)
                    np.testing.assert_allclose(found.GetOrigin(), image.GetOrigin(), atol=2e-4)
                    np.testing.assert_allclose(found.GetSpacing(), image.GetSpacing(), atol=2e-5)
                    np.testing.assert_array_equal(SimpleITK.GetArrayFromImage(found), VOXELS.T)
