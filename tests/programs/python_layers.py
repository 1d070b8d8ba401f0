"""Runs its extension from a coroutine, a generator, a method and a callback, in the way that is asked for."""

import asyncio
import sys
import threading
import time

import spin_extension


def idle():
    time.sleep(1000)


class Layer:
    def __call__(self, way):
        return self.forward(way)

    def forward(self, way):
        secret = "\x1b[2Jsecret " + "x" * 3000  # noqa: F841 - a debugger looks at it
        return getattr(spin_extension, way)()


def numbers(layer, way):
    for _ in range(2):
        yield layer(way)


async def leaf(way):
    return sum(numbers(Layer(), way))


async def middle(way):
    await asyncio.sleep(0)
    return await leaf(way)


def back():
    return asyncio.run(middle(WAY))


def main():
    threading.Thread(target=idle, name="idler", daemon=True).start()
    print("ready", flush=True)
    print(spin_extension.apply(back), flush=True)


WAY = sys.argv[1]
main()
