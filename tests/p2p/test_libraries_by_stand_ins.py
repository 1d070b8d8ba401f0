"""Calls by C names, on libraries that stand in for the driver and NCCL: layouts are those of their headers.

The stand-ins are written after the declarations in cuda.h and nccl.h, and refuse what is not so.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ladder_backends.gpu_calls.gpus import DeviceFault
from ladder_backends.p2p import nccl_diagnostics, nccl_source, vmm

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

DRIVER = r"""
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef struct { int type; int id; } Location;
typedef struct {
    int type; int requestedHandleTypes; Location location; void *win32HandleMetaData;
    struct { unsigned char compressionType, rdma; unsigned short usage; unsigned char reserved[4]; } f;
} Prop;
typedef struct { Location location; int flags; } Access;
static int live, refuse;
_Static_assert(sizeof(Prop) == 32, "CUmemAllocationProp");
_Static_assert(sizeof(Access) == 12, "CUmemAccessDesc");
int count_live(void) { return live; }
void refuse_access(int yes) { refuse = yes; }
int cuDeviceGetAttribute(int *out, int which, int device) { *out = which == 102 || which == 103; return 0; }
int cuMemGetAllocationGranularity(size_t *out, const Prop *p, int option) {
    if (p->type != 1 || p->location.type != 1 || option) return 1;
    *out = 2 << 20; return 0;
}
int cuMemCreate(unsigned long long *handle, size_t size, const Prop *p, unsigned long long flags) {
    if (p->type != 1 || p->requestedHandleTypes != 1 || p->location.type != 1 || flags) return 1;
    if (p->win32HandleMetaData || p->f.compressionType || size % (2 << 20)) return 1;
    int fd = memfd_create("gpu", 0);
    if (ftruncate(fd, size)) return 2;
    *handle = fd + 1000; live++; return 0;
}
int cuMemExportToShareableHandle(void *out, unsigned long long handle, int type, unsigned long long flags) {
    if (type != 1 || flags) return 1;
    *(int *)out = dup(handle - 1000); return 0;
}
int cuMemImportFromShareableHandle(unsigned long long *handle, void *os, int type) {
    if (type != 1) return 1;
    *handle = dup((int)(size_t)os) + 1000; live++; return 0;
}
int cuMemRelease(unsigned long long handle) { close(handle - 1000); live--; return 0; }
typedef unsigned long long u64;
int cuMemAddressReserve(u64 *out, size_t size, size_t align, u64 at, u64 f) {
    if (align || at || f) return 1;
    void *p = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *out = (size_t)p; live++; return 0;
}
int cuMemMap(u64 at, size_t size, size_t offset, u64 handle, u64 flags) {
    if (offset || flags) return 1;
    return mmap((void *)at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, handle - 1000, 0) == MAP_FAILED;
}
int cuMemSetAccess(unsigned long long at, size_t size, const Access *access, size_t count) {
    if (refuse) return 101;
    return count != 1 || access->location.type != 1 || access->flags != 3;
}
int cuMemUnmap(unsigned long long at, size_t size) { return 0; }
int cuMemAddressFree(unsigned long long at, size_t size) { munmap((void *)at, size); live--; return 0; }
int cuGetErrorString(int status, const char **out) {
    *out = status == 101 ? "invalid device ordinal" : "invalid";
    return 0;
}
"""

NCCL = r"""
#include <stddef.h>
#include <stdlib.h>
static int group, live;
int count_live(void) { return live; }
typedef struct { int device; } Comm;
int ncclGetVersion(int *out) { *out = 23101; return 0; }
int ncclCommInitAll(Comm **out, int count, const int *devices) {
    for (int i = 0; i < count; i++) { out[i] = malloc(sizeof(Comm)); out[i]->device = devices[i]; live++; }
    return 0;
}
int ncclGroupStart(void) { group = 1; return 0; }
int ncclGroupEnd(void) { group = 0; return 0; }
int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, Comm *comm, void *stream) {
    if (!group || in != out || type != 3 || op || !comm) return 4;
    if (stream != (void *)(size_t)(0x7f0000000000 + comm->device)) return 4;
    for (size_t i = 0; i < count; i++) ((unsigned *)out)[i] *= 2;
    return 0;
}
int ncclCommDestroy(Comm *comm) { free(comm); live--; return 0; }
const char *ncclGetErrorString(int status) { return "invalid argument"; }
"""


def built(folder: Path, name: str, source: str) -> str:
    file = folder / f"{name}.c"
    file.write_text(source)
    library = folder / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", library, file], check=True, timeout=60)
    return str(library)


def test_memory_goes_from_one_to_the_other_by_a_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = built(tmp_path, "libcuda.so.1", DRIVER)
    monkeypatch.setattr(vmm, "_LIBRARY", library)
    memory = vmm.VirtualMemory()
    mapping, descriptor = memory.create(1, 10 << 20)
    assert mapping.size == 10 << 20
    ctypes.memmove(mapping.address, b"word", 4)
    there = memory.open(0, descriptor, 10 << 20)
    assert there.address != mapping.address
    assert ctypes.string_at(there.address, 4) == b"word"
    os.close(descriptor)
    for one in (mapping, there):
        memory.close(one)
    assert ctypes.CDLL(library).count_live() == 0


def test_a_refusal_leaves_nothing_behind_and_says_which_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = built(tmp_path, "libcuda.so.1", DRIVER)
    monkeypatch.setattr(vmm, "_LIBRARY", library)
    memory = vmm.VirtualMemory()
    _, descriptor = memory.create(1, 2 << 20)
    before = ctypes.CDLL(library).count_live()
    ctypes.CDLL(library).refuse_access(1)
    with pytest.raises(DeviceFault) as fault:
        memory.open(0, descriptor, 2 << 20)
    os.close(descriptor)
    assert fault.value.code == 101
    assert "cuMemSetAccess fails: invalid device ordinal" in fault.value.line()
    assert ctypes.CDLL(library).count_live() == before
    open_before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(DeviceFault):
        memory.create(1, 2 << 20)
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_an_old_driver_says_that_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "int cuDeviceGetAttribute(int *out, int a, int d) { *out = 0; return 0; }"
    monkeypatch.setattr(vmm, "_LIBRARY", built(tmp_path, "libcuda.so.1", old))
    with pytest.raises(DeviceFault) as fault:
        vmm.VirtualMemory().create(0, 4096)
    assert fault.value.code == 801
    monkeypatch.setattr(vmm, "_LIBRARY", "libcuda-that-is-not-there.so.1")
    with pytest.raises(DeviceFault, match="the driver's library is not there"):
        vmm.VirtualMemory()


def test_the_library_of_nccl_sums_where_cupy_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = built(tmp_path, "libnccl.so.2", NCCL)
    monkeypatch.setattr(nccl_source, "_packaged", lambda: (path,))
    assert nccl_source.versions() == {"nccl": "2.31.1", "nccl from": "libnccl.so.2"}
    words = [(ctypes.c_uint32 * 4)(1, 2, 3, 4) for _ in range(2)]
    waited: list[int] = []
    name = nccl_source.sum_up(
        (0, 1),
        [ctypes.addressof(one) for one in words],
        4,
        [0x7F0000000000, 0x7F0000000001],
        lambda gpu: None,
        waited.append,
    )
    assert name == "libnccl.so.2"
    assert [list(one) for one in words] == [[2, 4, 6, 8]] * 2
    assert waited == [0, 1]
    assert ctypes.CDLL(path).count_live() == 0
    with pytest.raises(DeviceFault, match="NCCL fails: invalid argument"):
        nccl_source.sum_up((0,), [ctypes.addressof(words[0])], 4, [1], lambda gpu: None, waited.append)


def test_no_nccl_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nccl_source, "_packaged", lambda: ())
    monkeypatch.setattr(nccl_source, "_LIBRARY", "libnccl-that-is-not-there.so.2")
    assert nccl_source.versions() == {}
    with pytest.raises(DeviceFault) as fault:
        nccl_source.sum_up((0,), [0], 1, [0], lambda gpu: None, lambda gpu: None)
    assert fault.value.code == nccl_source.NO_NCCL


@pytest.mark.parametrize(("number", "text"), [(2708, "2.7.8"), (21903, "2.19.3"), (23101, "2.31.1")])
def test_versions_of_nccl(number: int, text: str) -> None:
    assert nccl_source.version_text(number) == text


def test_the_diagnostics_of_nccl_are_heard_and_nothing_else() -> None:
    with nccl_diagnostics.standard_output() as told:
        os.write(1, b"NCCL version 2.31.1+cuda13.0\nNCCL DIAG === NCCL Diagnostics ===\n")
        os.write(1, b"NCCL DIAG [INFO] p2p: only 52/56 GPU-to-GPU peer accesses passed verification\n")
    assert told[0] == "=== NCCL Diagnostics ==="
    assert len(told) == 2
    assert "only 52/56" in nccl_diagnostics.complaint(told)
    assert nccl_diagnostics.complaint(["[OK]   p2p: verified P2P access in both directions"]) == ""
