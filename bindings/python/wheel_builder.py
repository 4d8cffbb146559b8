#!/usr/bin/env python3
"""Builds a wheel that carries the library, without the network: wheel_builder.py LIBRARY OUT_FOLDER.

It is also the build backend of pyproject.toml, for `python3 -m build` and `pip wheel`; the library is then the file that
the environment variable BOUGH_LIBRARY names.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LICENSES = ("LICENSE", "THIRD_PARTY_LICENSES")


def _version():
    return re.search(r'^version = "(.+)"$', (HERE / "pyproject.toml").read_text(), re.M).group(1)


def _tag():
    # The library needs the glibc version of the build machine, so build on an older system to support older ones.
    name, version = platform.libc_ver()
    if sys.platform != "linux" or name != "glibc":
        raise SystemExit("wheels are built on Linux with glibc")
    return f"py3-none-manylinux_{version.replace('.', '_')}_{platform.machine()}"


def _metadata():
    return (
        f"Metadata-Version: 2.4\nName: bough\nVersion: {_version()}\n"
        "Summary: Durable, branching, portable sessions for AI agents\nLicense-Expression: Apache-2.0\n"
        + "".join(f"License-File: {name}\n" for name in LICENSES)
        + "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text()
    )


def _add(archive, records, name, data):
    # A fixed time, so that equal input gives an equal wheel.
    info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    records.append(f"{name},sha256={digest},{len(data)}")


def make_wheel(library, folder):
    version, tag = _version(), _tag()
    name = f"bough-{version}-{tag}.whl"
    info = f"bough-{version}.dist-info"
    records = []
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as archive:
        for source in sorted((HERE / "bough").iterdir()):
            if source.suffix in {".py", ".typed"}:
                _add(archive, records, f"bough/{source.name}", source.read_bytes())
        _add(archive, records, "bough/libbough.so", pathlib.Path(library).read_bytes())
        _add(archive, records, f"{info}/METADATA", _metadata().encode())
        for license_name in LICENSES:
            _add(archive, records, f"{info}/licenses/{license_name}", (HERE / license_name).read_bytes())
        _add(archive, records, f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: bough\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        records.append(f"{info}/RECORD,,")
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), "\n".join(records) + "\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = os.environ.get("BOUGH_LIBRARY")
    if not library:
        raise SystemExit("name the built libbough.so in the environment variable BOUGH_LIBRARY")
    return make_wheel(library, wheel_directory)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(make_wheel(sys.argv[1], sys.argv[2]))
