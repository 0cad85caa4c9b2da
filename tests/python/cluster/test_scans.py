"""The scans of a job: patterns and tables, and names of results."""
from pathlib import Path

import echolux as ox
from echolux.cluster.inputs import list_scans
from support import FolderCase


class Listed(FolderCase):
    def write(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def names(self, scans):
        return [one.name for one in list_scans(scans)]

    def test_names_are_paths_below_common_folder(self):
        self.assertEqual(self.names("/data/a.toml"), ["a"])
        self.assertEqual(self.names(["/data/a.toml", "/data/b.toml"]), ["a", "b"])
        self.assertEqual(self.names(["/data/x/scan.toml", "/data/y/z/scan.toml"]), ["x/scan", "y/z/scan"])

    def test_patterns(self):
        for name in "b/scan.toml", "a/scan.toml", "a/deep/scan.toml":
            self.write(name)
        self.assertEqual(self.names(str(self.folder / "*/scan.toml")), ["a/scan", "b/scan"])
        self.assertEqual(self.names(self.folder / "**/scan.toml"), ["a/deep/scan", "a/scan", "b/scan"])
        with self.assertRaisesRegex(ox.MissingFile, "matches no file"):
            list_scans(str(self.folder / "*.raw"))

    def test_tables(self):
        table = self.write("scans.csv", "scan,name,recipe.window,recipe.zero_padding\nx/a.toml,first,hann,\n/y/a.toml,,,2\n")
        one, two = list_scans(table)
        self.assertEqual((one.path, one.name, one.settings), (str(self.folder / "x/a.toml"), "first", ("recipe.window=hann",)))
        self.assertEqual((two.path, Path(two.name).name, two.settings), ("/y/a.toml", "a", ("recipe.zero_padding=2",)))

    def test_tables_in_parquet(self):
        try:
            import pandas
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pandas and pyarrow are not there")
        pandas.DataFrame({"scan": ["a.toml", "b.toml"], "recipe.window": ["hann", None]}).to_parquet(self.folder / "s.parquet")
        self.assertEqual([one.settings for one in list_scans(self.folder / "s.parquet")], [("recipe.window=hann",), ()])

    def test_rejects_invalid_lists(self):
        for scans, words in ((["/a/s.toml", "/a/s.unp"], 'both be written as "s"'), ([], "names no scan"),
                             (self.write("1.csv", "scan,window\na,hann\n"), 'has a column "window"'),
                             (self.write("2.csv", "file\na\n"), "has no scan"),
                             (self.write("3.csv", "scan,name\na,../x\n"), 'cannot name a result "../x"'),
                             (self.write("4.csv", "scan,name\na,/x\n"), 'cannot name a result "/x"')):
            with self.subTest(words), self.assertRaisesRegex(ox.BadArgument, words):
                list_scans(scans)
