"""Real C projects: where each comes from, and the compile_commands.json that its own build gives.

Each is unpacked into `benchmarks/.cache/NAME/`, like the programs of `benchmarks.programs`. The project's own script configures
it. Its compile commands are those of its own build: cmake writes the file, or `make -n` prints the commands. Nothing is left
out, so that the demos, the tests and each `main` that the project builds are in it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import programs
from benchmarks.build_commands import Commands, commands_of
from benchmarks.programs import CACHE
from benchmarks.sources import FetchError, SourcePackage, fetch, unpacked


@dataclass(frozen=True)
class Project:
    """A project. `configure`: commands that are run first; then what `make` would do for the `goals` is read off, or what cmake
    writes, if one of the commands is cmake. `made`: goals that are made first, such as headers."""

    package: SourcePackage
    configure: tuple[tuple[str, ...], ...] = ()
    made: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()


def provide(name: str) -> Path:
    """The compile_commands.json of a project, made if it is not there yet. Raises FetchError."""
    if name in programs.PROGRAMS:
        return programs.provide(name)
    ready = CACHE / name / "compile_commands.json"
    if not ready.is_file():
        _make(name, PROJECTS[name])
    return ready


def _make(name: str, project: Project) -> None:
    tarball = fetch(project.package, CACHE / "downloads")
    root = CACHE / name
    write_commands(name, project, unpacked(tarball, root), root / "compile_commands.json")


def write_commands(name: str, project: Project, top: Path, ready: Path) -> None:
    """Writes the compile commands of a project that was unpacked. Raises FetchError."""
    for command in project.configure:
        _run(name, command, top)
    if project.made:
        _run(name, ("make", *project.made), top)
    written = top / "build" / "compile_commands.json"
    if written.is_file():
        commands: Commands = [one for one in json.loads(written.read_text(encoding="utf-8")) if one["file"].endswith(".c")]
    else:
        commands = commands_of(_run(name, ("make", "-n", "-w", *project.goals), top), top)
    if not commands:
        raise FetchError(f"{name}: its build names no C file.")
    ready.write_text(json.dumps(commands, indent=1) + "\n", encoding="utf-8")


def _run(name: str, command: Sequence[str], folder: Path) -> str:
    """What a command prints. Raises FetchError."""
    if shutil.which(command[0], path=f"{os.environ['PATH']}:{folder}") is None and not (folder / command[0]).is_file():
        raise FetchError(f"{name} needs {command[0]}, which is not on PATH.")
    environment = os.environ | {"LC_ALL": "C", "MAKEFLAGS": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-3:]
        raise FetchError(f"{name}: `{' '.join(command)}` failed: {' '.join(said)}")
    return done.stdout


_CMAKE = (("cmake", "-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),)

PROJECTS = {
    "bzip2": Project(
        SourcePackage(
            "bzip2",
            "1.0.8-5",
            "bzip2_1.0.8.orig.tar.gz",
            "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269",
            "bzip2_1.0.8-5.dsc",
            "ed9c40f4de3f9e064535e15eac1c61a0f606763db98f4579dbc04067b94a8944",
        )
    ),
    "jansson": Project(
        SourcePackage(
            "jansson",
            "2.14-2",
            "jansson_2.14.orig.tar.gz",
            "c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b",
            "jansson_2.14-2.dsc",
            "6296ddd9c0a022bd1b70074aefb171cfcdf5694a04ffd32b35fd66097621af87",
        ),
        configure=_CMAKE,
    ),
    "libyaml": Project(
        SourcePackage(
            "libyaml",
            "0.2.5-1",
            "libyaml_0.2.5.orig.tar.gz",
            "fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e",
            "libyaml_0.2.5-1.dsc",
            "1edbf86e5cd76937ff62892ba6c2537456d645d834d4cd4a82430b8be7051bf4",
        ),
        configure=_CMAKE,
    ),
    "lz4": Project(
        SourcePackage(
            "lz4",
            "1.9.4-1",
            "lz4_1.9.4.orig.tar.gz",
            "0b0e3aa07c8c063ddf40b082bdf7e37a1562bda40a0ff5272957f3e987e0e54b",
            "lz4_1.9.4-1.dsc",
            "e16302bca544d08d106efc216541f4a0403c8f8a5fad5eaac7588223a55af263",
        )
    ),
    "less": Project(
        SourcePackage(
            "less",
            "590-2.1~deb12u2",
            "less_590.orig.tar.gz",
            "6aadf54be8bf57d0e2999a3c5d67b1de63808bb90deb8f77b028eafae3a08e10",
            "less_590-2.1~deb12u2.dsc",
            "1a4219f8ec9342851805089d9ee5ec7c0150287d5722ecc914c50790673ad9a6",
        ),
        configure=(("./configure",),),
    ),
    "hiredis": Project(
        SourcePackage(
            "hiredis",
            "0.14.1-3",
            "hiredis_0.14.1.orig.tar.gz",
            "2663b2aed9fd430507e30fc5e63274ee40cdd1a296026e22eafd7d99b01c8913",
            "hiredis_0.14.1-3.dsc",
            "6dee69e4c29f8b71de5e4ac76d1f887a6c545bd49b6801bcf2c03b646c98a235",
        )
    ),
    "gawk": Project(
        SourcePackage(
            "gawk",
            "1:5.2.1-2",
            "gawk_5.2.1.orig.tar.xz",
            "2337a0283b180ec1b9c727973a34781c6478b3ae9bcbdcca0a4dc49861d75a65",
            "gawk_5.2.1-2.dsc",
            "1f2d11cd9b09419e86cf069571728802a068bb94d1947f3328ed430ab9b7540e",
        ),
        configure=(("./configure", "--disable-extensions", "--disable-nls", "--without-readline", "--disable-mpfr"),),
        made=("-C", "support"),
        goals=("gawk",),
    ),
    "dropbear": Project(
        SourcePackage(
            "dropbear",
            "2022.83-1+deb12u3",
            "dropbear_2022.83.orig.tar.bz2",
            "bc5a121ffbc94b5171ad5ebe01be42746d50aa797c9549a4639894a16749443b",
            "dropbear_2022.83-1+deb12u3.dsc",
            "de21d1d56b6b4086918095e3f6d1b8276d22d4a890953d0f9f8d28aa946296c4",
        ),
        configure=(("./configure", "--disable-zlib", "--enable-bundled-libtom"),),
        made=("default_options_guard.h",),
    ),
    "nginx": Project(
        SourcePackage(
            "nginx",
            "1.22.1-9+deb12u9",
            "nginx_1.22.1.orig.tar.gz",
            "9ebb333a9e82b952acd3e2b4aeb1d4ff6406f72491bab6cd9fe69f0dea737f31",
            "nginx_1.22.1-9+deb12u9.dsc",
            "28baa4abda06503ae8ecde6e9f049905de7c172d6ec767636628bfcd87499cf4",
        ),
        configure=(
            ("./configure", "--without-http_rewrite_module", "--without-http_gzip_module", "--with-mail", "--with-stream"),
        ),
    ),
    "tinyproxy": Project(
        SourcePackage(
            "tinyproxy",
            "1.11.1-2.1+deb12u1",
            "tinyproxy_1.11.1.orig.tar.xz",
            "d66388448215d0aeb90d0afdd58ed00386fb81abc23ebac9d80e194fceb40f7c",
            "tinyproxy_1.11.1-2.1+deb12u1.dsc",
            "8741be861e85204fa49be56fe782c9b5a57c4d5843d1937dc9c75d4c47b902d9",
        ),
        configure=(("./configure",),),
    ),
    "stunnel": Project(
        SourcePackage(
            "stunnel4",
            "3:5.68-2+deb12u1",
            "stunnel4_5.68.orig.tar.gz",
            "dcd895ab088b043d4e0bafa8b934e7ab3e697293828dbe9fce46cb7609a7dacf",
            "stunnel4_5.68-2+deb12u1.dsc",
            "0dd75f679eaca8b06bb8e813b6299c10c953ab2341a8a80b709a1f7196ac5768",
        ),
        configure=(("./configure", "--disable-systemd", "--disable-libwrap"),),
    ),
    "libusb": Project(
        SourcePackage(
            "libusb-1.0",
            "2:1.0.26-1",
            "libusb-1.0_1.0.26.orig.tar.bz2",
            "12ce7a61fc9854d1d2a1ffe095f7b5fac19ddba095c259e6067a46500381b5a5",
            "libusb-1.0_1.0.26-1.dsc",
            "3d75673e367fab1d0ca1ef29276ff4ea31dd7678c9573c10975e8d80bdbd0b14",
        ),
        configure=(("./configure", "--disable-udev"),),
        goals=("-C", "libusb"),
    ),
    "discount": Project(
        SourcePackage(
            "discount",
            "2.2.7-2",
            "discount_2.2.7.orig.tar.gz",
            "72c1325ddfc40871d6810f1e272cf2d45b361f26357eb38f170fd04d737bb9f2",
            "discount_2.2.7-2.dsc",
            "a812e12aceeb4b4aa76c1aaee8e9c2bb9c547b702bab814cd123fe7b6e3e365b",
        ),
        configure=(("./configure.sh",),),
        made=("blocktags", "version.c"),
        goals=("all",),
    ),
    "socat": Project(
        SourcePackage(
            "socat",
            "1.7.4.4-2",
            "socat_1.7.4.4.orig.tar.gz",
            "0f8f4b9d5c60b8c53d17b60d79ababc4a0f51b3bb6d2bd3ae8a6a4b9d68f195e",
            "socat_1.7.4.4-2.dsc",
            "d69a6c1c1f3e36959b3f43b0383c537a924e5f0dcae6f803621aef9491a71e5a",
        ),
        configure=(("./configure",),),
        goals=("socat", "filan", "procan"),
    ),
}

NAMES = (
    *("bzip2", "jansson", "libyaml", "lz4", "less", "hiredis", "spin", "sendmail", "gawk", "dropbear", "nginx"),
    *("stunnel", "libusb", "discount", "socat"),
)
"""The projects whose findings are read, those of `benchmarks.programs` among them."""
