"""Creates a store in a new folder for each test."""

import pathlib
import tempfile
import unittest

import bough


class StoreCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = bough.Store(pathlib.Path(self.folder.name) / "store")

    def tearDown(self):
        self.store.close()
        self.folder.cleanup()
