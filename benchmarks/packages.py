"""Thirty small packages of Debian 12, checked in one batch by provers of a Dask cluster on this machine.

    python -m benchmarks.packages [--workers 2] [--budget edit] [--timeout 120] [NAME ...]

The upstream tarballs are fetched by name and digest. A project's own `configure` is run where there is one, and the compile
commands are read off `make -n`; where that gives none, the folder is checked as it was unpacked. Then `everproof batch` checks
all of them with the workers of a cluster, and its table is printed, with what it took in all. What an earlier run has done is
not done again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from distributed import LocalCluster

from benchmarks import real_sources
from benchmarks.programs import CACHE
from benchmarks.real_sources import PROJECTS, Project
from benchmarks.sources import FetchError, SourcePackage, fetch, unpacked

_FOLDER = CACHE / "packages"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages", description="Check packages in a batch.")
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", default="edit")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each program (default: 120)")
    given = parser.parse_args(arguments)
    try:
        programs = [provide(name) for name in given.names or NAMES]
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    here = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=given.workers, threads_per_worker=1, **here) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        options = ["--budget", given.budget, "--timeout", f"{given.timeout:g}", "--scheduler", address, "--jobs", "1"]
        began = time.monotonic()
        command = [sys.executable, "-m", "analysis.cli", "batch", "--into", str(_FOLDER / "reports"), *options]
        done = subprocess.run([*command, *map(str, programs)], stdout=subprocess.PIPE, text=True, cwd=_FOLDER, check=False)
        print(done.stdout.replace("/compile_commands.json", ""))
        print(f"{len(programs)} programs in {time.monotonic() - began:.0f} s, exit code {done.returncode}")
    return 0


def provide(name: str) -> Path:
    """The program of a package, relative to the folder of all: its compile_commands.json, or the folder of its sources if there
    is none. Raises FetchError."""
    place = _FOLDER / name
    ready = place / "compile_commands.json"
    if not place.is_dir():
        project = PROJECTS.get(name)
        top = unpacked(fetch(PACKAGES[name] if project is None else project.package, CACHE / "downloads"), place)
        if project is None:
            steps = (("./configure",),) if (top / "configure").is_file() else ()
            project = Project(PACKAGES[name], configure=steps)
        try:
            real_sources.write_commands(name, project, top, ready)
        except FetchError as error:
            print(f"{name}: checked as a folder: {error}", file=sys.stderr)
    return (ready if ready.is_file() else place).relative_to(_FOLDER)


PACKAGES = {
    "bc": SourcePackage(
        "bc",
        "1.07.1-3",
        "bc_1.07.1.orig.tar.gz",
        "62adfca89b0a1c0164c2cdca59ca210c1d44c3ffc46daf9931cf4942664cb02a",
        "bc_1.07.1-3.dsc",
        "92f057cf569b6a90f95f423b293e49dce8e7cf7e99764d4aef4dfe6aa2642e15",
    ),
    "byacc": SourcePackage(
        "byacc",
        "1:2.0.20221106-1",
        "byacc_2.0.20221106.orig.tar.gz",
        "a899be227bbcac9cf7700f7dbb5a8494688f1f9f0617b510762daeace47b9d12",
        "byacc_2.0.20221106-1.dsc",
        "8b4b4cfb6838a508f9b0eb2746ef60b5e42080fcfcd20b43c84e675fe9bd9354",
    ),
    "cjson": SourcePackage(
        "cjson",
        "1.7.15-1+deb12u4",
        "cjson_1.7.15.orig.tar.gz",
        "5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2",
        "cjson_1.7.15-1+deb12u4.dsc",
        "764c2de141d680f4fb4cada30c526dacaa30ead061b9b9c34f2b81e2df0f8439",
    ),
    "cpio": SourcePackage(
        "cpio",
        "2.13+dfsg-7.1",
        "cpio_2.13+dfsg.orig.tar.bz2",
        "fd1e6fb3c683bf82ae0db237af87376c6a376d1f6bf6564c9b335785e76106a9",
        "cpio_2.13+dfsg-7.1.dsc",
        "b9be067d59bdc77ae9a382076f85abc6e3cd515720e7fb10055bfa75e6b1a831",
    ),
    "dos2unix": SourcePackage(
        "dos2unix",
        "7.4.3-1",
        "dos2unix_7.4.3.orig.tar.gz",
        "b68db41956daf933828423aa30510e00c12d29ef5916e715e8d4e694fe66ca72",
        "dos2unix_7.4.3-1.dsc",
        "5ec7c0f726fc85e04d220e6c442a6000572b0ae9c0597ca4840d42784af5bb60",
    ),
    "ed": SourcePackage(
        "ed",
        "1.19-1",
        "ed_1.19.orig.tar.gz",
        "8e5c3e7c84972e73957ff396b8318a21795f86547dd1fe4ec4232a9e6e44ca1d",
        "ed_1.19-1.dsc",
        "01c795ded42ae21c3e6d15a20640422e21f4769eb9b2e796aeef6e75342cbf5c",
    ),
    "figlet": SourcePackage(
        "figlet",
        "2.2.5-3",
        "figlet_2.2.5.orig.tar.gz",
        "bf88c40fd0f077dab2712f54f8d39ac952e4e9f2e1882f1195be9e5e4257417d",
        "figlet_2.2.5-3.dsc",
        "f19663ee2437cac166f0d3c4c9bf0d33f0149a6e8f06d6ae80014fd4030bdc81",
    ),
    "giflib": SourcePackage(
        "giflib",
        "5.2.1-2.5+deb12u1",
        "giflib_5.2.1.orig.tar.gz",
        "31da5562f44c5f15d63340a09a4fd62b48c45620cd302f77a6d9acf0077879bd",
        "giflib_5.2.1-2.5+deb12u1.dsc",
        "5206a92fd4a057768f429033a3a80bc1e06453f6c60dfec243d8188fa6ade3f4",
    ),
    "http-parser": SourcePackage(
        "http-parser",
        "2.9.4-5",
        "http-parser_2.9.4.orig.tar.gz",
        "467b9e30fd0979ee301065e70f637d525c28193449e1b13fbcb1b1fab3ad224f",
        "http-parser_2.9.4-5.dsc",
        "3ef34ef3eb1889482a790b5f1db2ed1aa5736da3bd3a04954fe5dfce4c0035f8",
    ),
    "libcsv": SourcePackage(
        "libcsv",
        "3.0.3+dfsg-6",
        "libcsv_3.0.3+dfsg.orig.tar.gz",
        "06fddfaca720a4be7603bad63eb1833bca5b6c5a69b42b1c518a02cda2a73aef",
        "libcsv_3.0.3+dfsg-6.dsc",
        "3e0a27ba29b9435d8bf7cbd825a1cdbec8375dedc8bffaf7ea458c15f238bc3f",
    ),
    "libestr": SourcePackage(
        "libestr",
        "0.1.11-1",
        "libestr_0.1.11.orig.tar.gz",
        "46632b2785ff4a231dcf241eeb0dcb5fc0c7d4da8ee49cf5687722cdbe8b2024",
        "libestr_0.1.11-1.dsc",
        "972ae4d0e689f3eca05003dfe1f1e3650641f041467e04f0bac966497bf1daf9",
    ),
    "libexif": SourcePackage(
        "libexif",
        "0.6.24-1+deb12u1",
        "libexif_0.6.24.orig.tar.gz",
        "d3fb7c47829ec4d2def39aa38f4c35a0891763448a05dbf216a329a12bf198f9",
        "libexif_0.6.24-1+deb12u1.dsc",
        "966c6129c35f398ec868398e126496764c3afabe5f3ec3e8b7f1eba61144b4f6",
    ),
    "libmodbus": SourcePackage(
        "libmodbus",
        "3.1.6-2.1+deb12u1",
        "libmodbus_3.1.6.orig.tar.gz",
        "fe0c141cd10d58bb848643f00f2d4b4005214f93312d7b66ac805fd369876651",
        "libmodbus_3.1.6-2.1+deb12u1.dsc",
        "ec4fdf10183e2d4cc2e02054b75811e11ae295b3b493b712771ddb9c670bdc9e",
    ),
    "mawk": SourcePackage(
        "mawk",
        "1.3.4.20200120-3.1",
        "mawk_1.3.4.20200120.orig.tar.gz",
        "7fd4cd1e1fae9290fe089171181bbc6291dfd9bca939ca804f0ddb851c8b8237",
        "mawk_1.3.4.20200120-3.1.dsc",
        "ed0543e3111f718e918a73033292fe2616760c8791c13efa0da3818ca835cdc1",
    ),
    "mini-httpd": SourcePackage(
        "mini-httpd",
        "1.30-3",
        "mini-httpd_1.30.orig.tar.gz",
        "9c4481802af8dde2e164062185c279e9274525c3af93d014fdc0b80cf30bca6e",
        "mini-httpd_1.30-3.dsc",
        "a1c95ac6a83b7f40240e3dff075f3a05ef83f1482bb2fa3cd9e55407c1346ee0",
    ),
    "ncompress": SourcePackage(
        "ncompress",
        "4.2.4.6-6",
        "ncompress_4.2.4.6.orig.tar.gz",
        "fb7b6a00060bd4c6e35ba4cc96a5ca7e78c193e6267487dd53376d80e061836b",
        "ncompress_4.2.4.6-6.dsc",
        "71e173c191f39b0471dfd4b66e83a71ad903f21d736aa2f830482d6f47a75b73",
    ),
    "patch": SourcePackage(
        "patch",
        "2.7.6-7",
        "patch_2.7.6.orig.tar.xz",
        "ac610bda97abe0d9f6b7c963255a11dcb196c25e337c61f94e4778d632f1d8fd",
        "patch_2.7.6-7.dsc",
        "d954fd576d935ac54b7d44d4976eb52d0da84a57f7bad90c6e5bd5e33595030a",
    ),
    "pv": SourcePackage(
        "pv",
        "1.6.20-1",
        "pv_1.6.20.orig.tar.bz2",
        "e831951eff0718fba9b1ef286128773b9d0e723e1fbfae88d5a3188814fdc603",
        "pv_1.6.20-1.dsc",
        "bcd8993e1a34ae4a53ba655c5491fda3dd21f6a7f19daa802e25e4eddb98f707",
    ),
    "sl": SourcePackage(
        "sl",
        "5.02-1",
        "sl_5.02.orig.tar.gz",
        "1e5996757f879c81f202a18ad8e982195cf51c41727d3fea4af01fdcbbb5563a",
        "sl_5.02-1.dsc",
        "6630f4697089b9aa2d2c09b7e7facd5aeee9b8088606ebc2442af7cb27141f2d",
    ),
    "tree": SourcePackage(
        "tree",
        "2.1.0-1",
        "tree_2.1.0.orig.tar.gz",
        "0160c535bff2b0dc6a830b9944e981e3427380f63e748da96ced7071faebabf6",
        "tree_2.1.0-1.dsc",
        "57da9be8a9c455077bae9e4909fab01cc62b25dbdea64042b4afbc403d599410",
    ),
    "unifdef": SourcePackage(
        "unifdef",
        "2.10-1.1",
        "unifdef_2.10.orig.tar.gz",
        "1375528c8983de06bbf074b6cfa60fcf0257ea8efcbaec0953b744d2e3dcc5dd",
        "unifdef_2.10-1.1.dsc",
        "4c1069d5340936631204d3080519d2bb0e9461f4f383baf9ccadf3450f5a9144",
    ),
    "units": SourcePackage(
        "units",
        "2.22-2",
        "units_2.22.orig.tar.gz",
        "5d13e1207721fe7726d906ba1d92dc0eddaa9fc26759ed22e3b8d1a793125848",
        "units_2.22-2.dsc",
        "7d973dbd35c2e6d1cd4073d9ce5249255c11974c21c21c574a6ad13536bc27b0",
    ),
    "xxhash": SourcePackage(
        "xxhash",
        "0.8.1-1",
        "xxhash_0.8.1.orig.tar.gz",
        "3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c",
        "xxhash_0.8.1-1.dsc",
        "4a961627c06efc8fa3bc4b06ee9dba6cfaf092f2550b88d63e9218a2728721b4",
    ),
    "yajl": SourcePackage(
        "yajl",
        "2.1.0-3+deb12u2",
        "yajl_2.1.0.orig.tar.gz",
        "3fb73364a5a30efe615046d07e6db9d09fd2b41c763c5f7d3bfb121cd5c5ac5a",
        "yajl_2.1.0-3+deb12u2.dsc",
        "38420d432584960203b37e108bcf39a5b6f0f2c96620af51e358ad2ce2e8746b",
    ),
    "zlib": SourcePackage(
        "zlib",
        "1:1.2.13.dfsg-1",
        "zlib_1.2.13.dfsg.orig.tar.bz2",
        "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
        "zlib_1.2.13.dfsg-1.dsc",
        "3fa1e6b2fc525062aa88207dda52fed8e045373c809d362fe8a2bfbf7cf515a8",
    ),
}
NAMES = tuple(sorted((*PACKAGES, "bzip2", "hiredis", "jansson", "libyaml", "tinyproxy")))
"""The packages, those of `benchmarks.real_sources` among them."""


if __name__ == "__main__":
    raise SystemExit(main())
