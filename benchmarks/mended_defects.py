"""The defects of `benchmarks.mended`: packages by digest, the patches that mend them, and the files that are checked."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.debian_packages import PACKAGES as SOURCES
from benchmarks.real_sources import PROJECTS
from benchmarks.sources import SourcePackage


@dataclass(frozen=True)
class Patched:
    """A source package with the digest of Debian's part of it, and what makes its generated headers."""

    package: SourcePackage
    debian: str
    debian_sha256: str
    prepare: tuple[tuple[str, ...], ...] = ()
    include: tuple[str, ...] = (".",)


@dataclass(frozen=True)
class Pair:
    """A defect: the package, the patch that mends it, the rules that are about its kind, and the files that are checked."""

    name: str
    package: str
    patch: str
    rules: tuple[str, ...]
    files: tuple[str, ...]


_CONFIGURE = (("./configure",),)
_CMAKE = (("cmake", "-S", ".", "-B", "build"),)

PACKAGES = {
    "cjson": Patched(
        SOURCES["cjson"],
        "cjson_1.7.15-1+deb12u4.debian.tar.xz",
        "afd19a970966cf534ff1e9ec077d710a5e7e78eb4ec9b499c8bdc32e55da12cb",
    ),
    "libxml2": Patched(
        SourcePackage(
            "libxml2",
            "2.9.14+dfsg-1.3~deb12u6",
            "libxml2_2.9.14+dfsg.orig.tar.xz",
            "4fe913dec8b1ab89d13b489b419a8203176ea39e931eaa0d25b17eafb9c279e9",
            "libxml2_2.9.14+dfsg-1.3~deb12u6.dsc",
            "d86ce3efb1b75d2781f72f5cdd187474c148a915d610295c85162681bb070a65",
        ),
        "libxml2_2.9.14+dfsg-1.3~deb12u6.debian.tar.xz",
        "f33a99a0018cbb94aadc3bf26661e401cb90dff856aa170faf7239151ee9b9ac",
        prepare=_CONFIGURE,
        include=(".", "include"),
    ),
    "mini-httpd": Patched(
        SOURCES["mini-httpd"],
        "mini-httpd_1.30-3.debian.tar.xz",
        "cc4e08073d0d1cee51ef2c605b26a7aab127c23d9d334aa9043585ab453c1b07",
        prepare=(("make", "mime_encodings.h", "mime_types.h"),),
    ),
    "patch": Patched(
        SOURCES["patch"],
        "patch_2.7.6-7.debian.tar.xz",
        "7725f30b042d8cf63516e480036e93ca2ff0ce5ad3754db4a4e69d33e96a2624",
        prepare=_CONFIGURE,
        include=(".", "lib", "src"),
    ),
    "tiff": Patched(
        SourcePackage(
            "tiff",
            "4.5.0-6+deb12u4",
            "tiff_4.5.0.orig.tar.bz2",
            "638f43d7dea33948d5dee7f39572fc0194d9cc3c74195de9dd26a4388a1f880a",
            "tiff_4.5.0-6+deb12u4.dsc",
            "b32082304d725936078d687303fcf771c9ecf738b505f9a66a29e8ba282c8615",
        ),
        "tiff_4.5.0-6+deb12u4.debian.tar.xz",
        "4ee50a8cdf74a184d94e65a04f3c9de466cb0b74ef5393fb5ca65666fccb864b",
        prepare=_CMAKE,
        include=("libtiff", "build/libtiff", "port", "build/port", "tools"),
    ),
    "avahi": Patched(
        SourcePackage(
            "avahi",
            "0.8-10+deb12u1",
            "avahi_0.8.orig.tar.gz",
            "060309d7a333d38d951bc27598c677af1796934dbd98e1024e7ad8de798fedda",
            "avahi_0.8-10+deb12u1.dsc",
            "807cf0a281a0e90207d05cd74dc2c9b5905458f3fe236fbf1bf6d246987dd874",
        ),
        "avahi_0.8-10+deb12u1.debian.tar.xz",
        "16b564d442c919d9b731a3b04c4d11be8ff5e77e79db9eb692527e5acfb53966",
    ),
    "giflib": Patched(
        SOURCES["giflib"],
        "giflib_5.2.1-2.5+deb12u1.debian.tar.xz",
        "efa4369de943f7918c2b0b049a125268937ab12039ea6ed01d34ab2125def0df",
    ),
    "libarchive": Patched(
        SourcePackage(
            "libarchive",
            "3.6.2-1+deb12u5",
            "libarchive_3.6.2.orig.tar.xz",
            "9e2c1b80d5fbe59b61308fdfab6c79b5021d7ff4ff2489fb12daf0a96a83551d",
            "libarchive_3.6.2-1+deb12u5.dsc",
            "aa86e919d6899ed11cc78c812d25a99b0493cbcc0e89b303507bf66d7dbda216",
        ),
        "libarchive_3.6.2-1+deb12u5.debian.tar.xz",
        "5b32794076e9b0d8cd74fd2c453340b72c6362188f40fa1aac96304cb5683315",
        prepare=_CONFIGURE,
        include=(".", "libarchive"),
    ),
    "tinyproxy": Patched(
        PROJECTS["tinyproxy"].package,
        "tinyproxy_1.11.1-2.1+deb12u1.debian.tar.xz",
        "42f01e0d126e9f80e5adfc04482df018b988c5f30447e267387906f887deb059",
        prepare=_CONFIGURE,
        include=(".", "src"),
    ),
    "yajl": Patched(
        SOURCES["yajl"],
        "yajl_2.1.0-3+deb12u2.debian.tar.xz",
        "31ebb5b6e0b76908d9631ce9c94ba1d7a34bbba05ea9ed42ee72422e141cbe48",
        prepare=_CMAKE,
        include=("src", "src/api", "build/yajl-2.1.0/include"),
    ),
}

_NULL = ("null-dereference",)
_FREED = ("use-after-free", "double-free")
_LEAK = ("memory-leak",)
_ASSERTED = ("assertion", "null-dereference")

_TIFFCROP = (
    "tools/tiffcrop.c",
    "libtiff/tif_aux.c",
    "libtiff/tif_close.c",
    "libtiff/tif_dir.c",
    "libtiff/tif_dirwrite.c",
    "libtiff/tif_error.c",
    "libtiff/tif_open.c",
    "libtiff/tif_read.c",
    "libtiff/tif_strip.c",
    "libtiff/tif_tile.c",
    "libtiff/tif_unix.c",
    "libtiff/tif_version.c",
    "libtiff/tif_write.c",
    "port/getopt.c",
)
_SCHEMAS = (
    "xmlschemas.c",
    "SAX2.c",
    "dict.c",
    "error.c",
    "globals.c",
    "hash.c",
    "parser.c",
    "parserInternals.c",
    "pattern.c",
    "tree.c",
    "uri.c",
    "valid.c",
    "xmlIO.c",
    "xmlreader.c",
    "xmlregexp.c",
    "xmlschemastypes.c",
    "xmlstring.c",
)

PAIRS = (
    Pair("CVE-2023-50471", "cjson", "0001-add-null-checkings.patch", _NULL, ("cJSON.c",)),
    Pair("CVE-2024-31755", "cjson", "0002-add-null-check-to-cjson-setvaluestring.patch", _NULL, ("cJSON.c",)),
    Pair(
        "mini-httpd-crypt", "mini-httpd", "0009-fix-nullpointer-dereference", _NULL, ("mini_httpd.c", "match.c", "tdate_parse.c")
    ),
    Pair("patch-53132", "patch", "Fix_segfault_with_mangled_rename_patch.patch", _NULL, ("src/pch.c",)),
    Pair(
        "tiff-515",
        "tiff",
        "TIFFClose_avoid_NULL_pointer_dereferencing.patch",
        _NULL,
        (
            "libtiff/tif_close.c",
            "tools/tiffcrop.c",
            "libtiff/tif_aux.c",
            "libtiff/tif_dir.c",
            "libtiff/tif_dirinfo.c",
            "libtiff/tif_dirwrite.c",
            "libtiff/tif_error.c",
            "libtiff/tif_flush.c",
            "libtiff/tif_hash_set.c",
            "libtiff/tif_open.c",
            "libtiff/tif_read.c",
            "libtiff/tif_strip.c",
            "libtiff/tif_tile.c",
            "libtiff/tif_unix.c",
            "libtiff/tif_version.c",
            "libtiff/tif_write.c",
            "port/getopt.c",
        ),
    ),
    Pair(
        "CVE-2024-7006",
        "tiff",
        "CVE-2024-7006.patch",
        _NULL,
        (
            "libtiff/tif_dirinfo.c",
            "libtiff/tif_dirread.c",
            "libtiff/tif_aux.c",
            "libtiff/tif_codec.c",
            "libtiff/tif_dir.c",
            "libtiff/tif_error.c",
            "libtiff/tif_hash_set.c",
            "libtiff/tif_open.c",
            "libtiff/tif_strip.c",
            "libtiff/tif_swab.c",
            "libtiff/tif_tile.c",
            "libtiff/tif_unix.c",
            "libtiff/tif_warning.c",
            "libtiff/tif_write.c",
        ),
    ),
    Pair(
        "avahi-175",
        "avahi",
        "Fix-NULL-pointer-crashes-from-175.patch",
        _ASSERTED,
        (
            "avahi-core/browse-dns-server.c",
            "avahi-core/browse-domain.c",
            "avahi-core/browse-service-type.c",
            "avahi-core/browse.c",
        ),
    ),
    Pair("CVE-2026-23868", "giflib", "CVE-2026-23868.patch", _FREED, ("gifalloc.c", "openbsd-reallocarray.c")),
    Pair(
        "CVE-2025-5914",
        "libarchive",
        "CVE-2025-5914.patch",
        _FREED,
        (
            "libarchive/archive_read_support_format_rar.c",
            "libarchive/archive_check_magic.c",
            "libarchive/archive_entry.c",
            "libarchive/archive_ppmd7.c",
            "libarchive/archive_read.c",
            "libarchive/archive_string.c",
            "libarchive/archive_util.c",
        ),
    ),
    Pair(
        "CVE-2023-49606",
        "tinyproxy",
        "0002-CVE-2023-49606.patch",
        _FREED,
        (
            "src/reqs.c",
            "src/acl.c",
            "src/anonymous.c",
            "src/basicauth.c",
            "src/buffer.c",
            "src/connect-ports.c",
            "src/conns.c",
            "src/filter.c",
            "src/heap.c",
            "src/html-error.c",
            "src/log.c",
            "src/loop.c",
            "src/mypoll.c",
            "src/network.c",
            "src/orderedmap.c",
            "src/hsearch.c",
            "src/reverse-proxy.c",
            "src/sblist.c",
            "src/sock.c",
            "src/stats.c",
            "src/text.c",
            "src/transparent-proxy.c",
            "src/upstream.c",
        ),
    ),
    Pair(
        "CVE-2022-49043",
        "libxml2",
        "CVE-2022-49043.patch",
        _FREED,
        (
            "xinclude.c",
            "buf.c",
            "dict.c",
            "encoding.c",
            "entities.c",
            "error.c",
            "globals.c",
            "hash.c",
            "parser.c",
            "parserInternals.c",
            "tree.c",
            "uri.c",
            "xmlIO.c",
            "xmlstring.c",
            "xpath.c",
            "xpointer.c",
        ),
    ),
    Pair("CVE-2023-26965", "tiff", "CVE-2023-26965.patch", _FREED, _TIFFCROP),
    Pair(
        "CVE-2023-33460",
        "yajl",
        "CVE-2023-33460.patch",
        _LEAK,
        (
            "src/yajl_tree.c",
            "src/yajl.c",
            "src/yajl_alloc.c",
            "src/yajl_buf.c",
            "src/yajl_lex.c",
            "src/yajl_parser.c",
            "src/yajl_encode.c",
        ),
    ),
    Pair(
        "libxml2-prefix",
        "libxml2",
        "0029-Fix-memory-leak-of-prefix-in-xmlTextWriterStartEleme.patch",
        _LEAK,
        (
            "xmlwriter.c",
            "HTMLparser.c",
            "SAX2.c",
            "buf.c",
            "encoding.c",
            "entities.c",
            "error.c",
            "globals.c",
            "list.c",
            "parser.c",
            "parserInternals.c",
            "tree.c",
            "uri.c",
            "xmlIO.c",
            "xmlsave.c",
            "xmlstring.c",
        ),
    ),
    Pair(
        "CVE-2026-1757",
        "libxml2",
        "CVE-2026-1757.patch",
        _LEAK,
        (
            "debugXML.c",
            "HTMLparser.c",
            "HTMLtree.c",
            "dict.c",
            "entities.c",
            "error.c",
            "globals.c",
            "hash.c",
            "parser.c",
            "relaxng.c",
            "tree.c",
            "uri.c",
            "valid.c",
            "xmlmemory.c",
            "xmlsave.c",
            "xmlstring.c",
            "xpath.c",
        ),
    ),
    Pair(
        "libxml2-schematron",
        "libxml2",
        "0038-schematron-fix-additional-memory-leaks-on-error-path.patch",
        _LEAK,
        ("schematron.c", "dict.c", "error.c", "globals.c", "parser.c", "pattern.c", "tree.c", "xmlstring.c", "xpath.c"),
    ),
    Pair("CVE-2023-3576", "tiff", "CVE-2023-3576.patch", _LEAK, _TIFFCROP),
    Pair(
        "CVE-2023-28484",
        "libxml2",
        "CVE-2023-28484-Fix-null-deref-in-xmlSchemaFixupCompl.patch",
        _NULL,
        _SCHEMAS,
    ),
    Pair(
        "oss-fuzz-51295",
        "libxml2",
        "schemas-Fix-null-pointer-deref-in-xmlSchemaCheckCOSS.patch",
        _NULL,
        _SCHEMAS,
    ),
    Pair("CVE-2024-56171", "libxml2", "CVE-2024-56171.patch", _FREED, _SCHEMAS),
)
