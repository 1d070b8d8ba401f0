from __future__ import annotations

import pytest

from ladder_backends.images.names import base_name, kernel_name, same_kernel, stub_kernel


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z4vaddPKfS0_Pfi", "vadd"),
        ("_ZN2at6native3addEv", "add"),
        ("_ZN12_GLOBAL__N_16kernelILi3EEEvPf", "kernel"),
        ("_ZL6staticPi", "static"),
        ("add", "add"),
        ("triton_poi_fused_0", "triton_poi_fused_0"),
        ("", ""),
        ("_Z", "_Z"),
        ("_Z99short", "_Z99short"),
    ],
)
def test_kernel_name(symbol: str, name: str) -> None:
    assert kernel_name(symbol) == name


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        ("vadd", "vadd"),
        ("vadd(const float *, const float *, float *, int)", "vadd"),
        ("void ns::add<float>(float *, int)", "add"),
        ("void at::native::(anonymous namespace)::index<float, 2, -2>(at::Info<float, int>, long)", "index"),
        ("<unnamed>::k(int)", "k"),
        ("(anonymous namespace)::k(int)", "k"),
        ("void k<(int)3>(int)", "k"),
        ("foo(int) [clone .kernel]", "foo"),
        ("ns::operator()(int)", "ns::operator()(int)"),
        ("_Z4vaddPKfS0_Pfi", "vadd"),
        ("", ""),
    ],
)
def test_base_name(signature: str, name: str) -> None:
    assert base_name(signature) == name


def test_stub_kernel() -> None:
    assert stub_kernel("_Z30__device_stub__Z4vaddPKfS0_PfiPKfS0_Pfi") == "_Z4vaddPKfS0_Pfi"
    assert stub_kernel("__device_stub__Z4spinPVi") == "_Z4spinPVi"
    assert stub_kernel("main") == ""


def test_same_kernel() -> None:
    assert same_kernel("at::small<float, 2>", "void at::small<float, (int)2>(at::Info<float>)")
    assert same_kernel("_Z4vaddPKfS0_Pfi", "vadd(const float *, const float *, float *, int)")
    assert same_kernel("k<lambda(int)#1>::operator()", "main::[lambda(int) (instance 1)]::operator ()(int) const")
    assert not same_kernel("vadd", "vadd2(int)")
